#include "explore/measure/channel.h"

#include <cstdint>

#include <google/protobuf/message_lite.h>

namespace tensmith {
namespace {

constexpr uint32_t kMaxMessage = 256u << 20;

}  // namespace

std::string frame(const google::protobuf::MessageLite& message) {
  std::string bytes(4, '\0');
  message.AppendToString(&bytes);
  const auto size = static_cast<uint32_t>(bytes.size() - 4);
  for (int i = 0; i < 4; ++i) {
    bytes[static_cast<size_t>(i)] = static_cast<char>(size >> (8 * i));
  }
  return bytes;
}

bool send_message(int fd, const google::protobuf::MessageLite& message) { return write_all(fd, frame(message)) == 0; }

ReadResult receive_message(int fd, google::protobuf::MessageLite& message, double timeout_seconds) {
  unsigned char header[4];
  if (const ReadResult r = read_exact(fd, header, sizeof header, timeout_seconds); r != ReadResult::kDone) {
    return r;
  }
  uint32_t size = 0;
  for (int i = 0; i < 4; ++i) {
    size |= static_cast<uint32_t>(header[i]) << (8 * i);
  }
  if (size > kMaxMessage) {
    return ReadResult::kError;
  }
  std::string bytes(size, '\0');
  if (const ReadResult r = read_exact(fd, bytes.data(), size, timeout_seconds); r != ReadResult::kDone) {
    return r;
  }
  return message.ParseFromString(bytes) ? ReadResult::kDone : ReadResult::kError;
}

}  // namespace tensmith
