#pragma once

#include <string>

#include "tensmith/support/fd.h"

namespace google::protobuf {
class MessageLite;
}

namespace tensmith {

/// Messages over a stream socket: a mark and the length, four bytes each, little-endian, then the message.

/// The bytes that go over the wire.
std::string frame(const google::protobuf::MessageLite& message);

/// False when the other end is gone.
bool send_message(int fd, const google::protobuf::MessageLite& message);

/// kEnd when the other end closed, kError for bytes that are no message, kTimeout after the time (negative: waits for
/// ever).
ReadResult receive_message(int fd, google::protobuf::MessageLite& message, double timeout_seconds = -1.0);

}  // namespace tensmith
