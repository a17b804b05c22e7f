// What the audit trail tells of: what was done, and through what.

/** Everything that may have been done, with what the API says of it. */
export const AUDIT_ACTIONS = {
  CREATED: 'The object was created.',
  UPDATED: 'The object was changed.',
  DELETED: 'The object was deleted.',
  SIGNED_IN: 'A user signed in to the dashboard.',
  SIGN_IN_FAILED: 'Somebody gave a wrong password or code for a user, or a passkey that did not pass.',
  SIGNED_OUT: 'A user signed out.',
  SESSIONS_ENDED: 'Browser sessions of a user were ended.',
  PASSWORD_SET: 'The password of a user was set.',
  SIGN_IN_LINK_CREATED: 'A link was made by which a user sets a password and signs in.',
  SECOND_FACTOR_ON: 'A user is asked for a code from then on, beside the password.',
  SECOND_FACTOR_OFF: 'A user is asked for no code any more.',
  RECOVERY_CODES_REPLACED: 'A user was given other recovery codes; those of before work no more.',
  PASSKEY_ADDED: 'A user can sign in with another passkey from then on.',
  PASSKEY_REMOVED: 'Passkeys of a user sign in no more.',
  CAPTURE_STARTED: 'Requests to an endpoint began to be captured, or otherwise than before.',
  CAPTURE_STOPPED: 'Requests to an endpoint were to be captured no longer.',
  CAPTURE_CLEARED: 'The captured requests to an endpoint were thrown away.',
  REQUEST_REPLAYED: 'A captured request was sent once more.',
  BACKED_UP: 'All that the database has, with the server key, was written into a file.',
  RESTORED: 'The database was restored from a backup: what came after the backup is gone.',
  TESTED: 'An alert channel, an event destination or an edge was tried, by a real message or request.',
  POLICY_TRIED: 'A traffic policy was tried that asks servers, or with secrets that are stored.',
  DEAD_LETTERS_RETRIED: 'Events that a target had refused were sent once more.',
  DEAD_LETTERS_DISCARDED: 'Events that a target had refused were thrown away.',
  BIND_REFUSED: 'An agent was refused an address or labels.',
  AGENT_RESTARTED: 'An agent was told to start anew.',
  AGENT_STOPPED: 'An agent was told to end.',
  AGENT_UPDATED: 'An agent was told to replace itself by another version.',
  SHARED_CALLBACK_ENDED:
    'Visitors who sign in at an issuer no longer come back by the address that all accounts shared.',
  OFFLINE_ENDPOINT_FORGOTTEN: 'An address that is offline was taken from the list.',
  ALERT_ACKNOWLEDGED: 'Somebody said that they look after an alert.',
  CERTIFICATE_RETRIED: 'A certificate was tried again to be obtained.',
  CERTIFICATE_REVOKED: 'A certificate was to be revoked.',
  ACME_KEY_CHANGED: 'The account at the certificate authority was given another key.',
  ACME_ACCOUNT_REPLACED: 'The account at the certificate authority was given up for a new one.',
  CERTIFICATE_WAITS_ENDED: 'Certificates were tried again before the time that the authority had named.',
  LIST_EXPORTED: 'A list was downloaded.',
  BULK_JOB_STARTED: 'Something was begun to be done to many objects of a list.',
  BULK_JOB_CANCELLED: 'What was being done to many objects was ended before all were done.',
  OTHER: 'What a later version of the gateway did, which this one does not know.',
} as const;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** Through what it was done, with what the API says of it. */
export const AUDIT_SOURCES = {
  API: 'An API key.',
  DASHBOARD: 'A browser session, or a page on which somebody signs in.',
  AGENT: 'An agent, with its credential.',
  GATEWAY: 'The gateway itself, or its operator on the machine.',
} as const;

export type AuditSource = keyof typeof AUDIT_SOURCES;
