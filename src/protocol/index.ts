// What gateway and agents share: the wire, and what both need beside it.

export { ByteBudget } from './byte-budget.ts';
export { limited } from './limited.ts';
export { LineWriter } from './line-writer.ts';
export { Fields } from './messages/fields.ts';
export { answerHeartbeat, startHeartbeat } from './messages/heartbeat.ts';
export { JsonReader, jsonMistake, MESSAGE_MAX, MessageError } from './messages/json-reader.ts';
export * from './messages/messages.ts';
export { EdgeType, type ProxyHeader, readProxyHeader, writeProxyHeader } from './messages/proxy-header.ts';
export { answer, call, openTyped, readType, StreamType } from './messages/typed-stream.ts';
export { Flag, FrameReader, FrameType, HEADER_BYTES, writeHeader } from './mux/frame.ts';
export { DEAF, MuxStream } from './mux/mux-stream.ts';
export { MuxSession } from './mux/session.ts';
export type { SessionEvents } from './mux/session-options.ts';
export { type ByteStream, ErrorCode, ProtocolError, type StreamEvents } from './mux/stream.ts';
export { INITIAL_WINDOW, STREAM_WINDOW_MAX } from './mux/window.ts';
export { maskPolicy } from './policy/policy-secrets.ts';
export {
  checkPolicy,
  POLICY_LIMITS,
  type PolicyProblem,
  type PolicyProtocol,
  phaseMeant,
} from './policy/policy-shape.ts';
export { abort, relay, type Traffic } from './relay.ts';
