// The text of a stream of server-sent events, piece by piece as it comes.

/** No event of the API is longer; what is doesn't come from it. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;

export interface ServerSentEvent {
  /** Empty for a comment, which is a sign of life. */
  event: string;
  data: string;
}

/** Gives the events that each piece completes. Comments come too, as events without a name or data. */
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

/** Gives each event as it comes. */
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
