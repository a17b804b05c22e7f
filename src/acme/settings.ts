/** How certificates are obtained (RFC 8555). */
export interface AcmeSettings {
  /** The URL of the authority's directory. */
  acmeDirectoryUrl: string;
  /** A PEM file of authorities that the directory's own certificate may be of, in addition to those of Node. */
  acmeCaFile: string | undefined;
  /** Where the authority reaches the operator. */
  acmeEmail: string | undefined;
  /** Whether the operator has agreed to the terms of the authority: nothing is ordered before. */
  acmeTermsAgreed: boolean;
  /** The external account that the gateway's account is bound to (RFC 8555, section 7.3.4). */
  acmeEab: { kid: string; hmacKeyBase64Url: string } | undefined;
  /** The profile that is asked for where the authority offers it. */
  acmeProfile: string | undefined;
  /** The common name of the issuer that the last certificate of the chain should have, where the authority offers several chains. */
  acmePreferredChain: string | undefined;
  /** The port at which the authority visits names for HTTP-01: 80 for public ones. */
  acmeHttpPort: number;
  /** Whether the gateway's own names have certificates obtained. */
  acmeOwnNames: boolean;
  /** Where the texts for the gateway's own wildcard are published: a CNAME record of `_acme-challenge` may lead there. */
  ownChallengeTarget: string;
  /** Whether the gateway's own name server has the base domain, and so the text itself. */
  dnsServesBaseDomain: boolean;
  /** Addresses at which the gateway is reached from outside, as the DNS is to say. */
  publicAddresses: string[];
  /** Whom to ask for records: addresses, with or without ports; none: the system's servers. */
  dnsServers: string[];
}
