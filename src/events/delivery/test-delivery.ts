// Whether a target takes an event: tried by the very way that delivery takes.

import type { WrittenEvent } from '../event.ts';
import type { Reason, Sink } from '../sinks/sink.ts';
import { sendAll } from './send.ts';

export interface TestDelivery {
  ok: boolean;
  latencyMs: number;
  /** Why it did not take it. */
  reason?: Reason;
}

/** Sends one event, in one request. @param now milliseconds, monotonic. Never throws. */
export async function deliverTestEvent(
  sink: Sink,
  event: WrittenEvent,
  { timeoutMs, now, signal = new AbortController().signal }: TestDeliveryOptions,
): Promise<TestDelivery> {
  const start = now();
  const { delivered, dead, failure } = await sendAll(sink, [event], { timeoutMs, signal, mayGoOn: () => true });
  const latencyMs = Math.round(now() - start);
  if (delivered.length === 1) return { ok: true, latencyMs };
  const { code, message } = failure ?? dead[0] ?? { code: 'Aborted', message: 'the trial was given up' };
  return { ok: false, latencyMs, reason: { code, message } };
}

export interface TestDeliveryOptions {
  timeoutMs: number;
  now(): number;
  signal?: AbortSignal;
}
