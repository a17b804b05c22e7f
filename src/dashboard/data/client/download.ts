// Downloads of lists. A link cannot send the secret of the page, so the page fetches the file and hands it to the browser.

import { ApiFailure } from './api-failure.ts';
import { pageSecret } from './page-secret.ts';

/** What REST says when it refuses. */
interface RestError {
  msg?: string;
  details?: { operation_id?: string };
}

/**
 * Fetches a file and saves it by the name that the gateway gives it.
 * @param path with its query: `/export/credentials?format=csv`.
 * @throws ApiFailure, also when the connection is cut before the file is whole.
 */
export async function download(path: string, signal?: AbortSignal): Promise<void> {
  try {
    const response = await fetch(path, {
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      headers: { 'Gateway-Dashboard': pageSecret() ?? '1' },
      signal,
    });
    if (!response.ok) throw await failureOf(response);
    save(await response.blob(), fileNameIn(response.headers.get('content-disposition')));
  } catch (error) {
    if (error instanceof ApiFailure) throw error;
    throw new ApiFailure('The download was cut off before it was whole. Try it again.', { code: 'UNREACHABLE' });
  }
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const { msg, details }: RestError = await response.json().catch(() => ({}));
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiFailure(msg ?? `The gateway gave no file (status ${response.status}).`, {
    operationId: details?.operation_id,
    status: response.status,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

function fileNameIn(disposition: string | null): string {
  return /filename="([\w.-]+)"/.exec(disposition ?? '')?.[1] ?? 'download';
}

function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
