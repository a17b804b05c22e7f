// Captured requests on their way from the node that has them to the one that is asked.

import type { ClusterAccess } from '../cluster/cluster-query.ts';
import type { NodeRef } from '../tunnel/control/routes.ts';
import { bodyMemory, type RequestCapture } from './captured-request.ts';
import type { Captures } from './captures.ts';

const READ = 'captureRead';
const READ_PART = 'captureReadPart';
/** The most characters of one part. A message has a megabyte at most, and a character may take several bytes. */
const PART_MAX = 150_000;
/** The longest captured request: two bodies of a mebibyte in Base64, and its head. More is not read. */
const TEXT_MAX = 8 * 1024 * 1024;
const TIMEOUT_MS = 2000;

interface ReadResponse {
  /** Those that fit into a message; null: to be read in parts. */
  texts: Record<string, string | null>;
}

interface PartResponse {
  part: string;
  total: number;
}

/** Lets other nodes read the captured requests of this one. */
export function serveCaptures(captures: Captures, { methods }: ClusterAccess): void {
  methods.set(READ, async (body): Promise<ReadResponse> => {
    const texts: ReadResponse['texts'] = {};
    let room = PART_MAX;
    for (const id of (body as { ids: string[] }).ids) {
      const captured = captures.get(id);
      if (!captured) continue;
      const text = bodyMemory(captured) < room ? write(captured) : undefined;
      texts[id] = text && text.length <= room ? text : null;
      room -= texts[id]?.length ?? 0;
    }
    return { texts };
  });
  methods.set(READ_PART, async (body): Promise<PartResponse> => {
    const { id, offset } = body as { id: string; offset: number };
    const captured = captures.get(id);
    const text = captured ? write(captured) : '';
    return { part: text.slice(offset, offset + PART_MAX), total: text.length };
  });
}

/** Reads captured requests of a node. Those that are gone, or that it does not give in time, are left out. */
export async function readCaptures(
  { calls }: ClusterAccess,
  node: NodeRef,
  ids: readonly string[],
): Promise<RequestCapture[]> {
  const call = (method: string, body: object) => calls.call(node, method, body, TIMEOUT_MS).catch(() => undefined);
  const found: RequestCapture[] = [];
  const { texts = {} } = ((await call(READ, { ids })) ?? {}) as Partial<ReadResponse>;
  for (const [id, text] of Object.entries(texts)) {
    const whole = text ?? (await readParts((offset) => call(READ_PART, { id, offset })));
    if (whole) found.push(read(whole));
  }
  return found;
}

async function readParts(next: (offset: number) => Promise<object | undefined>): Promise<string | undefined> {
  let text = '';
  for (;;) {
    const { part = '', total = 0 } = ((await next(text.length)) ?? {}) as Partial<PartResponse>;
    text += part;
    if (part === '' || total > TEXT_MAX) return undefined;
    if (text.length >= total) return text;
  }
}

function write(captured: RequestCapture): string {
  const { requestBody, responseBody, redacted } = captured;
  return JSON.stringify({
    ...captured,
    redacted: [...redacted],
    requestBody: { ...requestBody, kept: requestBody.kept.toString('base64') },
    responseBody: { ...responseBody, kept: responseBody.kept.toString('base64') },
  });
}

function read(text: string): RequestCapture {
  const captured = JSON.parse(text);
  for (const body of [captured.requestBody, captured.responseBody]) body.kept = Buffer.from(body.kept, 'base64');
  return { ...captured, redacted: new Set(captured.redacted) };
}
