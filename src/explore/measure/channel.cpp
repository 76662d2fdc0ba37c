#include "explore/measure/channel.h"

#include <cstdint>

#include <google/protobuf/message_lite.h>

namespace tensmith {
namespace {

constexpr uint32_t kMaxMessage = 256u << 20;
/// Begins every message: what a user's kernel writes into descriptors that are not its own is told from a reply by it.
constexpr uint32_t kMark = 0x9e54a7d1;
constexpr size_t kHeaderBytes = 8;

void put(uint32_t number, char* out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<char>(number >> (8 * i));
}

uint32_t get(const char* bytes) {
  uint32_t out = 0;
  for (int i = 0; i < 4; ++i) out |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return out;
}

}  // namespace

std::string frame(const google::protobuf::MessageLite& message) {
  std::string bytes(kHeaderBytes, '\0');
  message.AppendToString(&bytes);
  put(kMark, bytes.data());
  put(static_cast<uint32_t>(bytes.size() - kHeaderBytes), bytes.data() + 4);
  return bytes;
}

bool send_message(int fd, const google::protobuf::MessageLite& message) { return write_all(fd, frame(message)) == 0; }

ReadResult receive_message(int fd, google::protobuf::MessageLite& message, double timeout_seconds) {
  char header[kHeaderBytes];
  if (const ReadResult r = read_exact(fd, header, sizeof header, timeout_seconds); r != ReadResult::kDone) {
    return r;
  }
  const uint32_t size = get(header + 4);
  if (get(header) != kMark || size > kMaxMessage) {
    return ReadResult::kError;
  }
  std::string bytes(size, '\0');
  if (const ReadResult r = read_exact(fd, bytes.data(), size, timeout_seconds); r != ReadResult::kDone) {
    return r;
  }
  return message.ParseFromString(bytes) ? ReadResult::kDone : ReadResult::kError;
}

}  // namespace tensmith
