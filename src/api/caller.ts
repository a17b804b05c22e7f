// Who asks the API: by an API key, in a browser session, or to begin one.

export interface Caller {
  accountId: string;
  /** The user or bot user who holds the key, or is signed in. */
  ownerId: string;
  /** The e-mail address of a user, the name of a bot user. */
  subject: string;
  isAdmin: boolean;
  /** The API key that came; undefined in a browser session. */
  keyId?: string;
  /** What the key may do; left out or empty: all that its owner may. */
  scopes?: readonly string[];
  /** Until when the key is accepted, in milliseconds of the wall clock; left out: until it is deleted. */
  keyExpiresAt?: number;
  /** The browser session; undefined when an API key came. */
  sessionId?: string;
  /** The provisioning key with which a device gets its credential; undefined for all others. */
  provisioningKeyId?: string;
  /** Only in the answer that begins a browser session: what its page has to keep. */
  pageSecret?: string;
}

/** Who does something who is not known as a caller: somebody who signs in. */
export interface SigningIn {
  id: string;
  accountId: string;
  subject: string;
  /** The browser session that begins; undefined where none does. */
  sessionId?: string;
}
