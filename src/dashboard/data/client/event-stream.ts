// Server-sent events, read from the body of a response. EventSource is no choice: it sends only GET requests.

/** The maximum length of an event. The API sends none that is longer. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;

export interface ServerSentEvent {
  /** The name of the event; empty for a comment, which is a heartbeat. */
  event: string;
  data: string;
}

/** Creates a parser: it returns the events that each chunk completes. Comments are events without a name and data. */
export function createEventParser(): (chunk: string) => ServerSentEvent[] {
  let rest = '';
  return (chunk) => {
    const blocks = (rest + chunk).replace(/\r\n/g, '\n').split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > MAX_EVENT_LENGTH) throw new Error('an event of the stream is too long');
    return blocks.map(parseEvent);
  };
}

function parseEvent(block: string): ServerSentEvent {
  let event = '';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === 'event') event = value ?? '';
    if (name === 'data') data.push(value ?? '');
  }
  return { event, data: data.join('\n') };
}

/** Yields each event as it arrives. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  const parse = createEventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parse(value);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
