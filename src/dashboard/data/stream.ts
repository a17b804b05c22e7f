// Reads server-sent events from the body of an answer. EventSource can't be used: it only sends GET requests.

import { eventText, type StreamEvent } from './event-text.ts';

/** Gives each event as it comes. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  const eventsIn = eventText();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* eventsIn(value);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
