// The package that gateway and agents share: the wire protocol, and helpers that both need.

export { ADDRESS_ATTEMPT_MS, giveAddressesTime } from './address-attempts.ts';
export { ByteBudget } from './byte-budget.ts';
export { limitConcurrency } from './concurrency-limit.ts';
export { LineWriter } from './line-writer.ts';
export * from './messages/auth.ts';
export { Fields } from './messages/fields.ts';
export { answerHeartbeat, type Heartbeat, startHeartbeat } from './messages/heartbeat.ts';
export { describeJsonError, JsonReader, MESSAGE_MAX, MessageError } from './messages/json-reader.ts';
export * from './messages/messages.ts';
export { EdgeType, type ProxyHeader, readProxyHeader, writeProxyHeader } from './messages/proxy-header.ts';
export { AGENT_MOVES, SESSION_REPLACED } from './messages/session-end.ts';
export { answerCall, callPeer, openTypedStream, readStreamType, StreamType } from './messages/typed-stream.ts';
export { Flag, FrameType, HEADER_BYTES, MuxFrameReader, writeHeader } from './mux/frame.ts';
export { MuxSession } from './mux/mux-session.ts';
export { MuxStream, noopStreamEvents } from './mux/mux-stream.ts';
export type { MuxSessionEvents } from './mux/session-options.ts';
export { type ByteStream, ErrorCode, ProtocolError, type StreamEvents } from './mux/stream.ts';
export { INITIAL_WINDOW, STREAM_WINDOW_MAX } from './mux/window.ts';
export { maskPolicy } from './policy/policy-secrets.ts';
export {
  checkPolicy,
  effectivePhase,
  POLICY_LIMITS,
  type PolicyProblem,
  type PolicyProtocol,
} from './policy/policy-shape.ts';
export { abortSocket, type ByteCounters, type RelayWatch, relay } from './relay.ts';
