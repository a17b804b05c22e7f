// What there is to know of an OAuth provider.

import type { ProviderIdentity } from '../provider.ts';

/** Fetches a JSON document from the provider's API. @throws when it does not answer 200. */
export type FetchDocument = (url: string) => Promise<unknown>;

/** A provider: where it is, and how it says who a visitor is. */
export interface OauthProviderRow {
  /** What its ID tokens, where it gives any, name as the issuer. */
  issuer: string;
  authorizationUrl: string;
  tokenUrl: string;
  /** Whether it takes PKCE (RFC 7636) from clients that have a secret. Without it, the state alone binds an answer to the browser. */
  takesPkce: boolean;
  /** The parameters by which it asks for the password again. */
  forced: Readonly<Record<string, string>>;
  /** Header fields of its API besides Authorization. */
  apiFields?(clientId: string): Readonly<Record<string, string>>;
  /** Asks who the visitor is. A subject that is no text is none. */
  identity(fetch: FetchDocument): Promise<ProviderIdentity>;
  /** Asks which groups the visitor is in; left out where it has none. */
  groups?(fetch: FetchDocument): Promise<string[]>;
}

/** The members of a document; none of what is no object. */
export function membersOf(document: unknown): Readonly<Record<string, unknown>> {
  return typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {};
}

/** An id, which some providers give as a number; '' when it is none. */
export function idText(value: unknown): string {
  if (typeof value === 'string') return value.length <= 255 ? value : '';
  return Number.isSafeInteger(value) ? String(value) : '';
}
