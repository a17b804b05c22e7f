// Requests of up to 500 records, written at once into one buffer that is used again. The SDK makes a text of every record and of the whole
// request, and objects of every record of the answer; here it signs the request, sends it, and reads its errors.

import { setImmediate as turn } from 'node:timers/promises';
import type { WrittenEvent } from '../../written-event.ts';

const [OPENING, DATA] = ['{"Records":[', '{"Data":"'];
const NEWLINE = 0x0a;
/** How many records are written in a turn of the event loop: a small part of a millisecond. */
const SLICE_RECORDS = 100;
/** A larger buffer is not kept for the next request, in bytes. */
const KEPT_MAX = 2 * 1024 * 1024;

export interface RecordForm {
  /** What follows the data of a record in JSON, up to its end: `"}`. */
  after(event: WrittenEvent): string;
  /** What follows the list of records, up to the end of the request. */
  closing: string;
  /** Whether each record ends with a line break. */
  hasLineBreaks: boolean;
}

/** The bodies of requests to one target, of which there is one at a time. */
export class RecordBodies {
  readonly #form: RecordForm;
  #spare: Buffer | undefined;

  constructor(form: RecordForm) {
    this.#form = form;
  }

  /** The body of a request in JSON. It is written in slices, between which visitors are served. */
  async write(events: readonly WrittenEvent[]): Promise<Buffer> {
    const { after, closing, hasLineBreaks } = this.#form;
    const ends = events.map(after);
    const extra = hasLineBreaks ? 1 : 0;
    let bytes = OPENING.length + Buffer.byteLength(closing);
    for (const [place, { size }] of events.entries())
      bytes += DATA.length + Math.ceil((size + extra) / 3) * 4 + Buffer.byteLength(ends[place] ?? '') + 1;
    const body = this.#take(bytes);
    let end = body.write(OPENING, 0, 'latin1');
    for (const [place, event] of events.entries()) {
      if (place > 0) end += body.write(',', end, 'latin1');
      if (place % SLICE_RECORDS === SLICE_RECORDS - 1) await turn();
      end += body.write(DATA, end, 'latin1');
      end += body.write(hasLineBreaks ? lineInBase64(event) : inBase64(event), end, 'latin1');
      end += body.write(ends[place] ?? '', end);
    }
    end += body.write(closing, end);
    return body.subarray(0, end);
  }

  /** The request succeeded: nobody reads its body any more. */
  release(body: Buffer): void {
    const whole = Buffer.from(body.buffer, body.byteOffset);
    if (whole.length <= KEPT_MAX) this.#spare = whole;
  }

  #take(bytes: number): Buffer {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare && spare.length >= bytes ? spare : Buffer.allocUnsafeSlow(bytes);
  }
}

function inBase64({ lines, start, end }: WrittenEvent): string {
  return lines.toString('base64', start, end);
}

function lineInBase64({ lines, start, end }: WrittenEvent): string {
  if (lines[end] === NEWLINE) return lines.toString('base64', start, end + 1);
  return Buffer.concat([lines.subarray(start, end), Buffer.of(NEWLINE)]).toString('base64');
}

/** A command of the SDK. What can be added to it is declared once for each of its steps; `Stack` is that of the two used here. */
interface Command {
  middlewareStack: { add(...args: never[]): void };
}

interface Stack {
  add(
    middleware: (next: Handler) => Handler,
    options: { step: 'serialize' | 'deserialize'; priority: 'low'; name: string },
  ): void;
}

type Handler = (args: never) => Promise<unknown>;

interface HttpMessage {
  statusCode?: number;
  body: unknown;
}

/**
 * Makes a command send this body instead of what it would write, and not read the answer of a success.
 * @returns what says the answer of a success in JSON, once the command was sent.
 */
export function replaceBody<Answer>(command: Command, body: Buffer): () => Answer {
  let answer: unknown;
  const withBody = (next: Handler) => (args: { request: HttpMessage }) => {
    args.request.body = body;
    return next(args as never);
  };
  const reading = (next: Handler) => async (args: never) => {
    const result = (await next(args)) as { response: HttpMessage };
    const { response } = result;
    if (response.statusCode !== 200) return result;
    const bytes = await collected(response.body as AsyncIterable<Buffer>);
    answer = parsed(bytes);
    // The SDK reports an answer that is no JSON as it always does.
    response.body = answer === undefined ? bytes : Buffer.from('{}');
    return result;
  };
  const stack = command.middlewareStack as Stack;
  stack.add(withBody, { step: 'serialize', priority: 'low', name: 'recordsInOneBuffer' });
  stack.add(reading, { step: 'deserialize', priority: 'low', name: 'recordsReadAtOnce' });
  return () => (answer ?? {}) as Answer;
}

async function collected(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parsed(bytes: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
