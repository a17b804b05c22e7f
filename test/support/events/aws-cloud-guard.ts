// Who may ask an AWS cloud for tests: signatures are checked by `aws4`, which shares nothing with the SDK that made them.

import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import aws4 from 'aws4';
import type { AwsService } from './aws-cloud.ts';

/** How far the time of a signature may be from the cloud's. */
const SKEW_MAX_MS = 300_000;

export interface CloudKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** What AWS answers when it refuses a request. */
export class CloudError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string = code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface SignedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What a signature says of itself: `Credential=<key>/<day>/<region>/<service>/aws4_request`. */
export interface Scope {
  accessKeyId: string;
  region: string;
  service: AwsService;
}

export function scopeOf({ authorization = '' }: IncomingHttpHeaders): Scope {
  const [, accessKeyId, region, service] =
    /Credential=([^/]+)\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request/.exec(authorization) ?? [];
  if (!accessKeyId || !region || !service) throw new CloudError(400, 'MissingAuthenticationTokenException');
  return { accessKeyId, region, service: service as AwsService };
}

/** The keys that exist, and those of sessions. */
export class Guard {
  #keys = new Map<string, CloudKeys>();
  #expired = new Set<string>();
  /** The cloud's time. */
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  issue(prefix: string, isSession = false): CloudKeys {
    const keys: CloudKeys = {
      accessKeyId: `${prefix}${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(30).toString('base64'),
      ...(isSession && { sessionToken: randomBytes(60).toString('base64') }),
    };
    this.#keys.set(keys.accessKeyId, keys);
    return keys;
  }

  expireSessions(): void {
    for (const { accessKeyId, sessionToken } of this.#keys.values()) {
      if (sessionToken) this.#expired.add(accessKeyId);
    }
  }

  /** @throws {CloudError} as AWS refuses the request. */
  check({ accessKeyId, region, service }: Scope, request: SignedRequest): void {
    const isSts = service === 'sts';
    const keys = this.#keys.get(accessKeyId);
    const token = request.headers['x-amz-security-token'];
    if (!keys || keys.sessionToken !== token) {
      const text = 'The security token included in the request is invalid.';
      throw isSts
        ? new CloudError(403, 'InvalidClientTokenId', text)
        : new CloudError(400, 'UnrecognizedClientException', text);
    }
    const invalid = (text: string) =>
      isSts
        ? new CloudError(403, 'SignatureDoesNotMatch', text)
        : new CloudError(400, 'InvalidSignatureException', text);
    const at = signedAt(request.headers);
    if (Math.abs(at - this.now()) > SKEW_MAX_MS) throw invalid(`Signature expired: ${new Date(at).toISOString()}`);
    if (signed(request, { region, service }, keys) !== request.headers.authorization) {
      throw invalid(
        'The request signature we calculated does not match the signature you provided.\n\nCheck your AWS key.',
      );
    }
    if (this.#expired.has(accessKeyId)) {
      const text = 'The security token included in the request is expired';
      throw isSts ? new CloudError(403, 'ExpiredToken', text) : new CloudError(400, 'ExpiredTokenException', text);
    }
  }
}

/** In milliseconds. */
function signedAt(headers: IncomingHttpHeaders): number {
  const iso = String(headers['x-amz-date']).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return Date.parse(iso);
}

/** What the header `Authorization` of the request has to be. */
function signed(
  { method, path, headers, body }: SignedRequest,
  scope: { region: string; service: string },
  keys: CloudKeys,
) {
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? [];
  const covered = names.split(';');
  const request = {
    method,
    path,
    body,
    ...scope,
    headers: Object.fromEntries(covered.map((name) => [name, String(headers[name] ?? '')])),
    // What is covered is what was signed, no less and no more: `aws4` would add and leave out some by itself.
    extraHeadersToInclude: Object.fromEntries(covered.map((name) => [name, true])),
    extraHeadersToIgnore: covered.includes('content-length') ? {} : { 'content-length': true },
  };
  return new aws4.RequestSigner(request, keys).sign().headers?.Authorization;
}
