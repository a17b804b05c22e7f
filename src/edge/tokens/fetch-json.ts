// Fetches the documents of identity providers: over HTTPS, and from this machine itself over HTTP too.

/** Milliseconds that a provider has for its whole answer. */
const TIMEOUT = 5000;
const BYTES_MAX = 512 * 1024;
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** What is wrong with a URL that is to be fetched, to be read behind its place. */
export function fetchProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.username || url.password || !isAllowed(url))
    return 'must be a URL that begins with https://, without a user name (http:// is for this machine only)';
  return undefined;
}

/**
 * Fetches a document in JSON. Redirections are not followed: they could lead anywhere.
 * @throws unless `fetchProblem` has nothing against the URL, and 200 with at most 512 KiB of JSON is there within 5 s.
 */
export async function fetchJson(url: string): Promise<unknown> {
  const problem = fetchProblem(url);
  if (problem) throw new Error(`${url} ${problem}`);
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (response.status === 200) return JSON.parse(await limitedText(response));
    await response.body?.cancel();
    throw new Error(`it answered ${response.status}`);
  } catch (error) {
    throw new Error(`${url} could not be fetched: ${messageOf(error)}`);
  }
}

async function limitedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw new Error(`it has more than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function isAllowed({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

/** What went wrong; `fetch` keeps that in the cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
