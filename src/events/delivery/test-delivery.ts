// Finds out whether a target accepts an event, through the same code as delivery.

import type { Reason, Sink } from '../sinks/sink.ts';
import type { WrittenEvent } from '../written-event.ts';
import { sendAll } from './send.ts';

export interface TestDelivery {
  ok: boolean;
  latencyMs: number;
  /** Why the target did not accept the event. */
  reason?: Reason;
}

/** Sends one event in one request. It never throws. @param now the monotonic clock, in milliseconds. */
export async function deliverTestEvent(
  sink: Sink,
  event: WrittenEvent,
  { timeoutMs, now, signal = new AbortController().signal }: TestDeliveryOptions,
): Promise<TestDelivery> {
  const start = now();
  const { delivered, dead, failure } = await sendAll(sink, [event], { timeoutMs, signal, mayContinue: () => true });
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
