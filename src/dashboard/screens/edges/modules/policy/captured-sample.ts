// A captured request as the sample of a dry run.

import { execute } from '../../../../data/client/client.ts';
import { mayReadBodies } from '../../../../data/session/session.ts';
import { CapturedRequest } from '../../../../generated/operations.ts';
import type { KeyValuePair } from '../../../../ui/forms/key-value-field.tsx';

export interface Sample {
  method: string;
  url: string;
  clientIp: string;
  headers: readonly KeyValuePair[];
  body: string;
}

export interface CapturedSample {
  sample: Sample;
  /** What of the request the sample lacks, as sentences: a policy may decide otherwise without it. */
  lacks: readonly string[];
}

/** The fields that a dry run takes from elsewhere: the host from the URL, the length from the body. */
const DERIVED_FIELDS = new Set(['host', 'content-length', 'transfer-encoding']);
/** The most that an operation may have, with room for the policy. */
const BODY_MAX = 16_384;

/** Loads it. @returns undefined when it is not kept any more. @throws ApiFailure */
export async function loadSample(id: string): Promise<CapturedSample | undefined> {
  const request = (await execute(CapturedRequest, { id, bodies: mayReadBodies() })).capturedRequest;
  if (!request) return undefined;
  const { method, url, clientIp, requestHeaders, requestBody } = request;
  const { bytes, isWhole, text } = requestBody;
  const shown = requestHeaders.filter(({ isRedacted }) => !isRedacted);
  const redacted = requestHeaders.filter(({ isRedacted }) => isRedacted).map(({ name }) => name);
  const hasBody = bytes > 0 && isWhole && text != null && text.length <= BODY_MAX;
  const lacks = [
    redacted.length > 0 && `The values of ${redacted.join(', ')} are redacted, so these header fields are left out.`,
    bytes > 0 && !hasBody && `The body of ${bytes.toLocaleString('en')} bytes is left out: ${whyNoBody(requestBody)}.`,
  ];
  return {
    sample: {
      ...{ method, url, clientIp },
      headers: shown
        .filter(({ name }) => !DERIVED_FIELDS.has(name.toLowerCase()))
        .map(({ name, value }) => ({ name, value })),
      body: hasBody ? text : '',
    },
    lacks: lacks.filter((sentence) => sentence !== false),
  };
}

function whyNoBody({ isWhole, text }: { isWhole: boolean; text?: string | null }): string {
  if (!mayReadBodies()) return 'you may not read captured bodies';
  if (!isWhole) return 'it was not recorded completely';
  return text == null ? 'it is no text' : 'it is too long for a trial';
}
