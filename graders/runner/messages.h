// Messages over a socket, which may carry descriptors.
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "system.h"

namespace runner {

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
