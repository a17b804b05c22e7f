import type { AlertSettings } from '../alerts/settings.ts';
import type { ProxySettings } from '../edge/proxy-protocol/settings.ts';
import type { DialSettings, EdgeSettings } from '../edge/settings.ts';
import type { EventSettings } from '../events/settings.ts';
import type { SingleSignOnSettings } from './single-sign-on-settings.ts';

/** What the API needs to be told. */
export interface ApiSettings
  extends ProxySettings,
    Pick<EventSettings, 'eventWebhookHosts' | 'eventFileDir'>,
    Pick<AlertSettings, 'smtp'>,
    Pick<DialSettings, 'backendHosts'>,
    Pick<EdgeSettings, 'sharedDomains'> {
  /**
   * The certificate (a chain in PEM) and its key that the listener speaks TLS with; `obtained`: one that the gateway obtained for the
   * host of `publicApiUrl`; undefined: it speaks plain HTTP.
   */
  apiTls: { certFile: string; keyFile: string } | 'obtained' | undefined;
  /** Base of `uri` and `next_page_uri`, without a slash at its end; undefined: the request's own origin. */
  publicApiUrl: string | undefined;
  /** Hosts whose name a request may bring to build that origin from. Lower case. */
  allowedHosts: string[];
  /** Connections to the API at once. */
  maxApiConnections: number;
  /** Origins whose pages may read answers; `*` is any. */
  corsOrigins: string[];
  /** Headers that may say the version, in lower case: `service-version` and its aliases. */
  versionHeaders: string[];
  /** Names that the gateway itself answers at, in lower case: nobody reserves one of them. */
  ownNames: ReadonlySet<string>;
  /** Names below it are the gateway's own to give. */
  baseDomain: string;
  /** How long the addresses of a lost session stay held for its agent; milliseconds. */
  sessionHold: number;
  /** The ports of TCP endpoints; `0` to `0`: any. */
  tcpPorts: { first: number; last: number };
  /** Where the CNAME targets of reserved domains are. */
  cnameDomain: string;
  /** Where the CNAME targets of ACME challenges are. */
  acmeDomain: string;
  /** Whom to ask for the records of reserved domains: addresses, with or without ports; none: the system's servers. */
  dnsServers: string[];
  /** Whether certificates are obtained for reserved domains: the operator has agreed to the terms of an authority. */
  acmeTermsAgreed: boolean;
  /** The URL of the directory of the certificate authority. */
  acmeDirectoryUrl: string;
  /** From where policies may fetch keys. */
  policyFetch: 'public' | 'any';
  /** How long is looked back to tell whether an endpoint fails; milliseconds. */
  failingWindow: number;
  /** How many days the audit trail is kept; 0: nothing is. */
  auditDays: number;
  /** The operator's provider for single sign-on; undefined: there is none. */
  singleSignOn: SingleSignOnSettings | undefined;
  /** The directory of documents that requests may name; undefined: there are none but the dashboard's. */
  persistedDocumentsDir: string | undefined;
  /** Requests per minute and API key. */
  rateLimit: number;
  /** Requests per minute and address without a valid API key. */
  strangerRateLimit: number;
}
