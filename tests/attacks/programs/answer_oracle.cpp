// The judge stores test data under names that are hashes of the content. A program that knows the possible answers
// could look whether a file of that name exists for each: this needs no right to read.
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

}  // namespace

// The input has the path of the directory, which a program could know on a known machine. The answer is one of two
// texts.
// attack: answer_oracle
// tries: to learn the answer from which file exists in the judge's store of test data
// expect: WA
ATTACK(answer_oracle) {
    char blobs[512] = "", token[64] = "";
    if (scanf("%511s %63s", blobs, token) != 2) _exit(3);
    char own[512] = "";
    if (readlink("/proc/self/fd/0", own, sizeof own - 1) > 0) strcpy(blobs, std::string(own, strlen(own) - std::string("/00/").size() - 64).c_str());
    if (sha256("abc") != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") _exit(4);
    for (const char *guess : {"YES", "NO"}) {
        const std::string text = std::string(guess) + " " + token + "\n", name = sha256(text);
        const std::string path = std::string(blobs) + "/" + name.substr(0, 2) + "/" + name;
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

// attack: input_from_the_disk
// tries: to wait for the disk for ever: it has its input read again and again
// expect: TLE
ATTACK(input_from_the_disk) {
    char bytes[4096];
    for (;;) {
        posix_fadvise(0, 0, 0, POSIX_FADV_DONTNEED);
        if (pread(0, bytes, sizeof bytes, 0) < 0) break;
    }
}
