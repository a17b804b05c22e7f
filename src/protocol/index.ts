// What gateway and agents share: the wire, and what both need beside it.

export { ByteBudget } from './byte-budget.ts';
export { ProtocolError } from './errors.ts';
export { Fields } from './fields.ts';
export { Flag, FrameReader, FrameType, HEADER_BYTES, writeHeader } from './frame.ts';
export { answerHeartbeat, startHeartbeat } from './heartbeat.ts';
export { jsonMistake } from './json-mistake.ts';
export { JsonReader, MESSAGE_MAX, MessageError } from './json-reader.ts';
export { limited } from './limited.ts';
export { LineWriter } from './line-writer.ts';
export * from './messages.ts';
export { DEAF, MuxStream } from './mux-stream.ts';
export { checkPolicy, POLICY_LIMITS, type PolicyProblem, type PolicyProtocol, phaseMeant } from './policy.ts';
export { maskPolicy } from './policy-secrets.ts';
export { EdgeType, type ProxyHeader, readProxyHeader, writeProxyHeader } from './proxy-header.ts';
export { abort, relay, type Traffic } from './relay.ts';
export { MuxSession } from './session.ts';
export type { SessionEvents } from './session-options.ts';
export { type ByteStream, ErrorCode, type StreamEvents } from './stream.ts';
export { answer, call, openTyped, readType, StreamType } from './typed.ts';
export { INITIAL_WINDOW, STREAM_WINDOW_MAX } from './window.ts';
