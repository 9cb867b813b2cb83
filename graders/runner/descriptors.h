// Descriptors that close themselves, functions for them, and messages that carry them.
#pragma once

#include "lines.h"
#include "numbers.h"

namespace runner {

// A descriptor that closes itself. Everything that the runner opens is close-on-exec.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Whether an error is the machine's, whatever the file is.
inline bool is_machine_error(int error) {
  switch (error) {
    case ENOMEM: case EAGAIN: case EMFILE: case ENFILE: case ETXTBSY: return true;
    default: return false;
  }
}

// Whether an error says that there is no such path for this user. Other errors, as of a disk or a file server, are the machine's.
inline bool is_no_path(int error) {
  switch (error) {
    case ENOENT: case ENOTDIR: case EACCES: case ELOOP: case ENAMETOOLONG: return true;
    default: return false;
  }
}

// The same file, opened again, so that it has its own offset.
inline int reopen(int fd, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return open(path, flags | O_CLOEXEC);
}

inline Fd memory_file(const char* name) {
  Fd fd(static_cast<int>(syscall(SYS_memfd_create, name, 1 /* MFD_CLOEXEC */)));
  if (!fd) system_fault("memfd_create");
  return fd;
}

// A memory file that can be executed and sealed. With `vm.memfd_noexec=1` it can be executed only if it was made with MFD_EXEC,
// which kernels before Linux 6.3 refuse.
inline Fd sealable_file(const char* name) {
  constexpr unsigned flags = 1 | 2;  // MFD_CLOEXEC | MFD_ALLOW_SEALING
  Fd fd(static_cast<int>(syscall(SYS_memfd_create, name, flags | MFD_EXEC)));
  if (!fd) fd = Fd(static_cast<int>(syscall(SYS_memfd_create, name, flags)));
  if (!fd) system_fault("memfd_create");
  return fd;
}

// Seals a memory file: from now on nothing can change it, whatever its mode. Returns it open for reading only, because a
// program cannot be started while its file is open for writing.
inline Fd sealed(Fd writable, mode_t mode) {
  Fd readable(reopen(writable.get(), O_RDONLY));  // before its mode may forbid reading
  bool is_done = readable && fchmod(writable.get(), mode) == 0;
  if (!is_done || fcntl(writable.get(), 1033 /* F_ADD_SEALS */, 0xf) != 0) system_fault("seal a memory file");
  return readable;
}

inline int64_t file_size(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 ? status.st_size : 0;
}

inline bool is_regular(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

// Opens a file that a judge program may have left. If it left something else, or a file that cannot be read, `error` says so.
inline Fd open_left(const std::string& directory, const std::string& name, std::string& error) {
  Fd file(open((directory + "/" + name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return file;
  if (!file && is_machine_error(errno)) system_fault("open the %s of a judge program", name.c_str());
  if (!file) error = "its " + name + " cannot be opened: " + strerror(errno);
  if (file && !is_regular(file.get())) error = "its " + name + " is not a file";
  return file;
}

// Reads as many bytes at an offset as there are and `buffer` holds; returns how many. After an error, -1.
inline ssize_t read_at(int fd, void* buffer, size_t size, int64_t offset) {
  size_t got = 0;
  while (got < size) {
    ssize_t n = pread(fd, static_cast<char*>(buffer) + got, size - got, static_cast<off_t>(offset + static_cast<int64_t>(got)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  return static_cast<ssize_t>(got);
}

// The first bytes of a file, whatever the descriptor's offset. The file may become shorter meanwhile.
inline std::string head(int fd, size_t most) {
  std::string text(std::min(most, static_cast<size_t>(file_size(fd))), '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, read_at(fd, &text[0], text.size(), 0))));
  return text;
}

inline bool copy_bytes(int from, int to) {
  char buffer[16384];
  int64_t offset = 0;
  for (;;) {
    ssize_t n = read_at(from, buffer, sizeof buffer, offset);
    if (n <= 0) return n == 0;
    offset += n;
    if (!write_all(to, buffer, static_cast<size_t>(n))) return false;
  }
}

// The first bytes of a file, a piece at a time: it may be larger than the memory that we want to use.
inline void print_base64(Lines& lines, int fd, int64_t bytes) {
  unsigned char block[3 * 4096];
  for (int64_t offset = 0; offset < bytes;) {
    size_t size = static_cast<size_t>(std::min<int64_t>(sizeof block, bytes - offset));
    if (read_at(fd, block, size, offset) != static_cast<ssize_t>(size)) system_fault("read what is to be printed");
    offset += static_cast<int64_t>(size);
    lines.print(base64(block, size));
  }
}

inline bool write_text(const char* path, const char* text) {
  Fd fd(open(path, O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), text, strlen(text)) == static_cast<ssize_t>(strlen(text));
}

// A file of /proc. It may be longer than a page, which is the most that one read returns. Empty if it is gone.
inline std::string read_text(const Fd& fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; fd && (n = read(fd.get(), buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  return text;
}

inline std::string read_text(int directory, const char* path) { return read_text(Fd(openat(directory, path, O_RDONLY | O_CLOEXEC))); }

// How many processes the kernel has killed since its start because the machine, or a cgroup, had no memory.
inline long long out_of_memory_kills() {
  std::string text = read_text(AT_FDCWD, "/proc/vmstat");
  size_t at = text.find("\noom_kill ");
  return at != std::string::npos ? atoll(text.c_str() + at + 10) : 0;
}

// The two ends of a pipe, to read from and to write to. Neither waits.
inline std::pair<Fd, Fd> new_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) system_fault("pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

// A pipe by which a child reports an error before its exec; the exec closes it.
class StartError {
 public:
  StartError() {
    std::tie(ours_, theirs_) = new_pipe();
    // Above the numbers of a judge program's descriptors, one of which would replace it.
    theirs_ = Fd(fcntl(theirs_.get(), F_DUPFD_CLOEXEC, kJudgeLastFd + 1));
    if (!theirs_) system_fault("duplicate a descriptor");
  }

  // The child's side.
  [[noreturn]] void exit_with(const char* what) {
    std::string text = std::string(what) + ": " + strerror(errno);
    if (write(theirs_.get(), text.data(), text.size()) < 0) _exit(126);
    _exit(127);
  }

  // Called after the child's end. Returns an empty text if nothing went wrong.
  std::string read() {
    char text[512];
    ssize_t n = ::read(ours_.get(), text, sizeof text);
    return std::string(text, static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }

 private:
  Fd ours_, theirs_;
};

// -------------------------------------------------------------------------------------------- messages

constexpr size_t kMaxDescriptors = 16;  // of a message

// The two ends of a connection that keeps messages apart.
inline std::pair<Fd, Fd> connected_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) system_fault("socketpair");
  return {Fd(ends[0]), Fd(ends[1])};
}

// Returns whether it was sent.
inline bool send_message(int socket, const void* data, size_t size, const std::vector<int>& descriptors) {
  if (descriptors.size() > kMaxDescriptors) return false;
  iovec part = {const_cast<void*>(data), size};
  alignas(cmsghdr) char space[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    size_t bytes = descriptors.size() * sizeof(int);
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(header), descriptors.data(), bytes);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

// Receives a message if one is there, without waiting; returns what recvmsg returns. If the message carries a descriptor, it
// replaces `descriptor`. If it carried one that the kernel could not give us, that is our failure.
inline ssize_t receive_message(int socket, void* data, size_t size, Fd& descriptor) {
  iovec part = {data, size};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  ssize_t n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n > 0 && (message.msg_flags & MSG_CTRUNC) != 0) fault(FaultKind::System, "a descriptor was lost: is there a free one left?");
  cmsghdr* header = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int received;
    memcpy(&received, CMSG_DATA(header), sizeof received);
    descriptor = Fd(received);
  }
  return n;
}

}  // namespace runner
