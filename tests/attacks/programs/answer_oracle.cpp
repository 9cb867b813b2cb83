// The judge stores test data under names that are hashes of the content. A program that knows the possible answers
// could look whether a file of that name exists for each: this needs no right to read. A worker has the test data in a
// package of the problem, too: in files with names that nobody can guess.
//
// group: reading
// problem: stored
#include "text.h"

#include <array>

namespace {

uint32_t turned(uint32_t word, int by) { return word >> by | word << (32 - by); }

// SHA-256 of a short text. Constants are computed: fractional parts of roots of the first primes.
std::string sha256(std::string text) {
    std::vector<int> primes;
    for (int n = 2; primes.size() < 64; ++n) {
        bool prime = true;
        for (int p : primes) prime = prime && n % p != 0;
        if (prime) primes.push_back(n);
    }
    auto fraction = [](__float128 low, __float128 high, int prime, int power) {
        for (int i = 0; i < 100; ++i) {
            const __float128 middle = (low + high) / 2;
            __float128 value = 1;
            for (int j = 0; j < power; ++j) value *= middle;
            (value <= prime ? low : high) = middle;
        }
        const auto whole = static_cast<uint64_t>(low);
        return static_cast<uint32_t>((low - whole) * 4294967296.0);
    };
    std::array<uint32_t, 64> k{};
    std::array<uint32_t, 8> h{};
    for (size_t i = 0; i < 64; ++i) k[i] = fraction(1, 8, primes[i], 3);
    for (size_t i = 0; i < 8; ++i) h[i] = fraction(1, 8, primes[i], 2);
    const uint64_t bits = text.size() * 8;
    text += '\x80';
    while (text.size() % 64 != 56) text += '\0';
    for (int i = 7; i >= 0; --i) text += static_cast<char>(bits >> (8 * i));
    for (size_t at = 0; at < text.size(); at += 64) {
        std::array<uint32_t, 64> w{};
        for (size_t i = 0; i < 16; ++i) {
            for (size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | static_cast<unsigned char>(text[at + 4 * i + j]);
        }
        for (size_t i = 16; i < 64; ++i) {
            const uint32_t s0 = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
            const uint32_t s1 = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto v = h;
        for (size_t i = 0; i < 64; ++i) {
            const uint32_t s1 = turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25);
            const uint32_t s0 = turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22);
            const uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
            const uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            v = {t1 + t2, v[0], v[1], v[2], v[3] + t1, v[4], v[5], v[6]};
        }
        for (size_t i = 0; i < 8; ++i) h[i] += v[i];
    }
    std::string hex;
    for (uint32_t word : h) {
        char part[9];
        snprintf(part, sizeof part, "%08x", word);
        hex += part;
    }
    return hex;
}

const std::string kPadding = std::string(127, ' ') + "\n";  // `PADDING` of arena.py

// The first words of the input: the cache directory, which a program could know on a known machine, and the answer's
// second word. The first word of the answer is YES or NO.
char cache[512] = "", token[64] = "";

void read_input() {
    if (scanf("%511s %63s", cache, token) != 2) _exit(3);
}

// Prints the text if it is the answer.
void print_if_answer(const std::string &text) {
    for (const char *guess : {"YES ", "NO "}) {
        if (text.find(guess + std::string(token)) != 0) continue;
        printf("%s", text.c_str());
        exit(0);
    }
}

// A directory and all that is below it, as far as it can be listed.
void walk(const std::string &path, std::vector<std::string> &found) {
    found.push_back(path);
    DIR *directory = opendir(path.c_str());
    if (directory == nullptr) return;
    while (const dirent *entry = readdir(directory)) {
        if (entry->d_name[0] != '.') walk(path + "/" + entry->d_name, found);
    }
    closedir(directory);
}

// What can be found of the worker's packages: in the cache directory, and beside the file that is the input.
std::vector<std::string> paths_of_packages() {
    char own[512] = "";
    std::vector<std::string> found;
    walk(std::string(cache) + "/packages", found);
    if (readlink("/proc/self/fd/0", own, sizeof own - 1) > 0) walk(std::string(own).substr(0, std::string(own).rfind('/')), found);
    return found;
}

}  // namespace

// attack: answer_oracle
// tries: to learn the answer from which file exists in the judge's store of test data
// expect: WA
ATTACK(answer_oracle) {
    read_input();
    std::string blobs = std::string(cache) + "/blobs";
    char own[512] = "";
    if (readlink("/proc/self/fd/0", own, sizeof own - 1) > 68) blobs = std::string(own, strlen(own) - std::string("/00/").size() - 64);
    if (sha256("abc") != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") _exit(4);
    for (const char *guess : {"YES", "NO"}) {
        const std::string text = std::string(guess) + " " + token + "\n" + kPadding, name = sha256(text);
        const std::string path = blobs + "/" + name.substr(0, 2) + "/" + name;
        struct stat status{};
        const bool seen = stat(path.c_str(), &status) == 0;
        errno = 0;
        const bool there = open(path.c_str(), O_RDONLY) >= 0 || errno == EACCES;
        if (seen || there) {
            printf("%s", text.c_str());
            exit(0);
        }
    }
    held("nothing is there");
}

// attack: answer_length
// tries: to learn the answer's length from the judge's store by the name of its input
// expect: WA
ATTACK(answer_length) {
    char path[512] = "";
    struct stat status{};
    if (readlink("/proc/self/fd/0", path, sizeof path - 1) > 0 && stat(path, &status) == 0) got("%s", path);
    held();
}

// attack: package_on_the_disk
// tries: to find the answer in the package from which a worker takes the test data
// expect: WA
ATTACK(package_on_the_disk) {
    read_input();
    struct stat status{};
    const auto paths = paths_of_packages();
    for (const std::string &path : paths) print_if_answer(content(path.c_str()));
    for (const std::string &path : paths) {
        if (open(path.c_str(), O_RDONLY) >= 0 || stat(path.c_str(), &status) == 0) got("%s", path.c_str());
    }
    held();
}

// attack: package_through_proc
// tries: to find that package through /proc: by descriptors, mappings, memory and environment of every process
// expect: WA
ATTACK(package_through_proc) {
    read_input();
    const int self = getpid();
    for (int pid = 0; pid < self + 200; pid = pid == 400 && self > 600 ? self - 200 : pid + 1) {
        const std::string process = "/proc/" + (pid == 0 ? "self" : std::to_string(pid));
        for (const char *name : {"/maps", "/environ", "/cmdline", "/mountinfo", "/mem"}) {
            if (open((process + name).c_str(), O_RDONLY) >= 0) got("%s%s", process.c_str(), name);
        }
        for (int fd = 0; fd < 64; ++fd) {
            char target[512] = "";
            const std::string link = process + "/fd/" + std::to_string(fd);
            if (fd > 2 || pid != 0) print_if_answer(content(link.c_str()));
            if (readlink(link.c_str(), target, sizeof target - 1) > 0) got("%s is %s", link.c_str(), target);
        }
    }
    held();
}

// attack: package_changed
// tries: to change that package: by the paths of its files, and by the descriptor of its input
// expect: WA
// attempted: truncate chmod fchmod mmap
ATTACK(package_changed) {
    read_input();
    for (const std::string &path : paths_of_packages()) {
        const char *name = path.c_str();
        if (open(name, O_WRONLY) >= 0 || open((path + "/new").c_str(), O_WRONLY | O_CREAT, 0666) >= 0) got("open %s", name);
        if (truncate(name, 0) == 0 || chmod(name, 0777) == 0 || rename(name, "away") == 0) got("change %s", name);
        if (unlink(name) == 0 || rmdir(name) == 0 || symlink("/dev/null", (path + "/new").c_str()) == 0) got("remove %s", name);
    }
    if (open("/proc/self/fd/0", O_RDWR) >= 0) got("its input again");
    if (ftruncate(0, 0) == 0 || pwrite(0, "0", 1, 0) > 0 || fchmod(0, 0777) == 0 || futimens(0, nullptr) == 0) got("its input");
    if (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0) != MAP_FAILED) got("a mapping of its input");
    held();
}

// attack: input_from_the_disk
// tries: to wait for the disk for ever: it has its input read and synced again and again
// expect: TLE
ATTACK(input_from_the_disk) {
    char bytes[4096];
    for (;;) {
        posix_fadvise(0, 0, 0, POSIX_FADV_DONTNEED);
        if (pread(0, bytes, sizeof bytes, 0) < 0 || fsync(0) != 0) break;
    }
}

// attack: input_past_the_cache
// tries: to wait for the disk: it has its input read directly, past the machine's cache
// expect: WA
ATTACK(input_past_the_cache) {
    tell(fcntl(0, F_SETFL, O_DIRECT) == 0, "direct reads");
}
