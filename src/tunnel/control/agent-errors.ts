// All errors that agents receive, except those of the contents of a traffic policy. Agents show the text to people and pass the
// code to programs. The table of errors in the manual is generated from this one.

import { bindErrors } from './bind-errors.ts';

export const agentErrors = {
  ...bindErrors,
  malformed: { number: 90200, text: 'The message is not valid: {reason}.' },
  unknownProtocol: { number: 90201, text: 'The protocol must be http, https, tcp or tls.' },
  unknownBinding: {
    number: 90202,
    text: 'The binding "{binding}" is not supported: "internal" is for names that end with ".internal", "public" for all others.',
  },
  optionNotActedOn: {
    number: 90203,
    text: 'This gateway does not support the option {option}, and does not open the tunnel without it.',
  },
  optionOfHttp: { number: 90213, text: 'The option {option} is for http and https, not for {proto}.' },
  optionOfTls: { number: 90214, text: 'The option {option} is for https and tls, not for {proto}.' },
  badOption: { number: 90215, text: 'An option of the tunnel cannot be used: {reason}.' },
  badAddress: {
    number: 90204,
    text: '"{address}" is not an address of this gateway; it must be {host} and a port, as in {host}:20000.',
  },
  badProxyProtocol: { number: 90205, text: 'The version of the PROXY protocol must be 0 (none), 1 or 2.' },
  badUpstreamProtocol: { number: 90206, text: 'The protocol of the upstream must be http1 or http2.' },
  portOutOfRange: { number: 90207, text: 'The port must be from {first} to {last}.' },
  noLabels: { number: 90208, text: 'A tunnel without an address needs a label, so that an edge can choose it.' },
  noSuchTunnel: { number: 90209, text: 'There is no tunnel "{id}" in this session.' },
  tooManyTunnels: { number: 90210, text: 'A session may have at most {max} tunnels.' },
  badText: { number: 90211, text: '{name} must {rule}.' },
  unknownVersion: { number: 90212, text: 'This gateway speaks the versions {versions} of the protocol.' },
  badLeg: { number: 90216, text: 'LegNumber must be a whole number from 0 to {max}; it is {leg}.' },
  legWithoutSession: {
    number: 90217,
    text: 'A session with LegNumber {leg} must come with the ClientId and the Cookie of the session that it stands beside.',
  },
  badInternalPort: {
    number: 90218,
    text: 'The internal name {name} needs a port from 1 to {max}, as in tcp://{name}:5432.',
  },
  /** Wrappers of existing agents try again after exactly this text. */
  sessionNotReady: { number: 90365, text: 'tunnel session not ready yet' },
  gatewayName: {
    number: 90371,
    text: 'The gateway itself uses the name {name}, so no tunnel can have it. Ask for another name.',
  },
  tooManySessions: {
    number: 90320,
    text: 'The account may have at most {max} sessions of agents here at once. End some, or raise MAX_SESSIONS_PER_ACCOUNT.',
  },
  tooManyPorts: {
    number: 90321,
    text: 'The account may have at most {max} TCP ports here, including those that are reserved for lost tunnels. Close some, or raise MAX_TCP_PORTS_PER_ACCOUNT.',
  },
  addressRestricted: {
    number: 115,
    text: 'The IP restriction of this account for agents does not allow the address {ip}. Connect from an address that it allows, or add that one to an IP policy of the restriction.',
  },
  badName: {
    number: 326,
    text: '"{name}" is not a name that can be served. It must be a full name such as app.example.com, of letters, digits and hyphens.',
  },
  badPolicy: { number: 2236, text: 'The traffic policy cannot be used: {reason}' },
  forwardDenied: {
    number: 90361,
    text: 'No rule in the ACL of this credential allows the internal endpoint that the traffic policy names. Add a rule such as "bind:{target}", or name one that is allowed.',
  },
  tooManyPolicies: {
    number: 90363,
    text: 'Too many traffic policies of this account are waiting to be compiled; try again.',
  },
  busy: {
    number: 90364,
    text: 'More than {max} binds of this account are waiting; try again later.',
  },
  unavailable: { number: 90080, text: 'The gateway cannot do this right now; try again.' },
} satisfies Record<string, { number: number; text: string }>;

export type AgentErrorName = keyof typeof agentErrors;

export interface AgentErrorOptions {
  /** Overrides the number of the table: each error of a policy has a number of its own. */
  number?: number | undefined;
  /** The time after which the agent should retry, in seconds. */
  retryAfter?: number;
}

/** An error that the gateway reports to an agent. */
export class AgentError extends Error {
  /** The number of the error code, without the prefix. */
  readonly number: number;
  readonly reason: AgentErrorName;
  readonly retryAfter: number | undefined;

  constructor(
    name: AgentErrorName,
    parameters: Record<string, string | number> = {},
    { number = agentErrors[name].number, retryAfter }: AgentErrorOptions = {},
  ) {
    super(
      agentErrors[name].text.replace(/\{(\w+)\}/g, (placeholder, key: string) =>
        String(parameters[key] ?? placeholder),
      ),
    );
    this.number = number;
    this.reason = name;
    this.retryAfter = retryAfter;
  }

  /** The message in the form that agents parse: the text, then the code on a line of its own; of `sessionNotReady` the text alone. */
  describe(prefix: string): string {
    if (this.reason === 'sessionNotReady') return this.message;
    return `${this.message}\r\n\r\n${prefix}${this.number}\r\n`;
  }

  /** The response to a call. SDKs of the original service ignore the member `RetryAfter`. */
  answer(prefix: string): object {
    const { retryAfter } = this;
    return { Error: this.describe(prefix), ...(retryAfter === undefined ? {} : { RetryAfter: retryAfter }) };
  }
}
