// The errors for refused authentications and binds: the number of the code, and a text that says how to correct the request.
// The table of errors in the manual is generated from this one.

import type { AgentRefusal } from './registrar.ts';

/** `{target}` is the placeholder for the requested name, address or label. It occurs at most once in a text. */
export const bindErrors: Record<AgentRefusal['refused'], { number: number; text: string }> = {
  authtokenMalformed: {
    number: 105,
    text: 'This is not the form of an authtoken. Use the token that was shown when a credential was created.',
  },
  authtokenUnknown: {
    number: 107,
    text: 'The authtoken is not valid: its credential is unknown or was deleted. Create a credential and use its token.',
  },
  authtokenInactive: {
    number: 636,
    text: 'The owner of this authtoken is not active. Activate the owner, or use the token of a credential of another.',
  },
  sessionEnded: {
    number: 300,
    text: 'The session has ended, or its credential was revoked. Connect again, with a credential that is valid.',
  },
  nameDenied: {
    number: 316,
    text: 'No rule in the ACL of this credential allows this name. Add a rule such as "bind:{target}", or ask for a name that is allowed.',
  },
  addressDenied: {
    number: 308,
    text: 'No rule in the ACL of this credential allows this address. Add a rule such as "bind:{target}", or ask for an address that is allowed.',
  },
  anyPortDenied: {
    number: 356,
    text: 'The ACL of this credential does not allow a TCP port that the gateway chooses. Ask for an address that one of its rules names.',
  },
  labelDenied: {
    number: 399,
    text: 'No rule in the ACL of this credential allows this label. Add a rule such as "bind:{target}", or leave the label out.',
  },
  notReserved: {
    number: 319,
    text: 'The name {target} is not reserved by this account. Reserve it or a wildcard that covers it (to serve a wildcard, reserve that same wildcard), or ask for a name below the gateway’s own domain.',
  },
  reservedByOther: {
    number: 320,
    text: 'The name {target} belongs to another account, which has reserved it or a name above it, or uses a name of the same site: the label before the gateway’s own domain, with all below it. Ask for another name.',
  },
  addressReserved: {
    number: 90322,
    text: 'The address {target} is reserved by another account. Ask for another port, or reserve an address and ask for that one.',
  },
  onEdge: {
    number: 381,
    text: '{target} belongs to an edge or a cloud endpoint. Open a tunnel with the labels of the edge’s backend, or remove it there.',
  },
  inUse: {
    number: 334,
    text: '{target} is in use by another tunnel, or reserved for one that lost its connection a moment ago. Stop that tunnel, ask for another address, or let all tunnels of this account that serve it ask for pooling.',
  },
};
