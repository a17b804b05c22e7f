// The objects of an ACME server (RFC 8555, section 7.1), as far as the client uses them. Members and values that are unknown are
// ignored or passed on: servers add types of challenges and statuses.

import type { AcmeHttpResponse } from './http-exchange.ts';
import { objectIn, objectOf, Reader } from './json-response.ts';
import { type AcmeProblemDocument, parseProblem } from './problem.ts';
import { retryAfterMs } from './retry-after.ts';

/** What a server offers, and where. */
export interface AcmeDirectory {
  newNonce: string;
  newAccount: string;
  newOrder: string;
  revokeCert?: string;
  keyChange?: string;
  /** The beginning of the URLs of renewal information (RFC 9773). */
  renewalInfo?: string;
  meta: {
    /** The URL of the terms that an account must agree to. */
    termsOfService?: string;
    website?: string;
    externalAccountRequired: boolean;
    /** The profiles of certificates, each with its description (draft-ietf-acme-profiles). */
    profiles: Record<string, string>;
    /** The names that the server answers to in CAA records (RFC 8659). */
    caaIdentities: string[];
  };
}

export interface AcmeOrder {
  url: string;
  /** `pending`, `ready`, `processing`, `valid` or `invalid`. */
  status: string;
  /** In milliseconds since 1970. */
  expires?: number;
  names: string[];
  /** The URLs of the authorizations. */
  authorizations: string[];
  /** Where to post the certificate request. */
  finalize: string;
  /** Where the certificate is, when the order is valid. */
  certificate?: string;
  profile?: string;
  /** Why the order is invalid. */
  error?: AcmeProblemDocument;
  /** For how long the server does not want to be asked again, in milliseconds. */
  retryAfterMs?: number;
}

export interface AcmeAuthorization {
  url: string;
  /** Without the `*.` of a wildcard. */
  name: string;
  wildcard: boolean;
  /** `pending`, `valid`, `invalid`, `deactivated`, `expired` or `revoked`. */
  status: string;
  /** In milliseconds since 1970. */
  expires?: number;
  challenges: AcmeChallenge[];
  /** For how long the server does not want to be asked again, in milliseconds. */
  retryAfterMs?: number;
}

export interface AcmeChallenge {
  url: string;
  /** `http-01`, `dns-01`, `tls-alpn-01`, or one that this client does not know. */
  type: string;
  /** `pending`, `processing`, `valid` or `invalid`. */
  status: string;
  token?: string;
  /** What went wrong. The challenge may be pending all the same, for another attempt (RFC 8555, section 8.2). */
  error?: AcmeProblemDocument;
}

export function parseDirectory(response: AcmeHttpResponse): AcmeDirectory {
  const read = new Reader(response, objectOf(response), 'directory');
  const meta = new Reader(response, objectIn(read.members.meta), 'directory');
  return {
    newNonce: read.string('newNonce'),
    newAccount: read.string('newAccount'),
    newOrder: read.string('newOrder'),
    revokeCert: read.optional('revokeCert'),
    keyChange: read.optional('keyChange'),
    renewalInfo: read.optional('renewalInfo'),
    meta: {
      termsOfService: meta.optional('termsOfService'),
      website: meta.optional('website'),
      externalAccountRequired: meta.members.externalAccountRequired === true,
      profiles: Object.fromEntries(
        Object.entries(objectIn(meta.members.profiles)).map(([name, text]) => [name, String(text)]),
      ),
      caaIdentities: 'caaIdentities' in meta.members ? meta.list('caaIdentities').map(String) : [],
    },
  };
}

/** @param url where the order is, which its object does not say. */
export function parseOrder(response: AcmeHttpResponse, url: string): AcmeOrder {
  const read = new Reader(response, objectOf(response), 'order');
  return {
    url,
    status: read.string('status'),
    expires: read.time('expires'),
    names: read.list('identifiers').map((identifier) => String(objectIn(identifier).value)),
    authorizations: read.list('authorizations').map(String),
    finalize: read.string('finalize'),
    certificate: read.optional('certificate'),
    profile: read.optional('profile'),
    error: parseProblem(read.members.error),
    retryAfterMs: retryAfterMs(response.headers),
  };
}

export function parseAuthorization(response: AcmeHttpResponse): AcmeAuthorization {
  const read = new Reader(response, objectOf(response), 'authorization');
  const identifier = new Reader(response, objectIn(read.members.identifier), 'authorization');
  return {
    url: response.url,
    name: identifier.string('value'),
    wildcard: read.members.wildcard === true,
    status: read.string('status'),
    expires: read.time('expires'),
    challenges: read.list('challenges').map((challenge) => toChallenge(response, objectIn(challenge))),
    retryAfterMs: retryAfterMs(response.headers),
  };
}

export function parseChallenge(response: AcmeHttpResponse): AcmeChallenge {
  return toChallenge(response, objectOf(response));
}

function toChallenge(response: AcmeHttpResponse, members: Record<string, unknown>): AcmeChallenge {
  const read = new Reader(response, members, 'challenge');
  return {
    url: read.string('url'),
    type: read.string('type'),
    status: read.string('status'),
    token: read.optional('token'),
    error: parseProblem(members.error),
  };
}
