// The errors of reserved domains. Part of the error table.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const domainErrors = {
  // Reserved domains.
  domainMissing: invalid(90040, '{member} must not be empty.'),
  wildcardPlace: invalid(402, '{member}: a wildcard "*" may only be the whole first label, as in *.example.com.'),
  domainCharacter: invalid(
    406,
    '{member} may contain only the letters a to z, digits, dots, hyphens and a leading "*.".',
  ),
  domainUnderscore: invalid(438, '{member} must not have an underscore.'),
  domainLabelEdge: invalid(407, '{member}: each part must begin and end with a letter or a digit.'),
  domainEmptyLabel: invalid(409, '{member} must not have an empty part (two dots in a row, or a dot at an end).'),
  domainHyphens: invalid(
    410,
    '{member}: only a part that begins with "xn--" may have "--" as its third and fourth characters.',
  ),
  domainNotPublic: invalid(411, '{member} must end in a public top-level domain; "{tld}" is not one.'),
  domainLabelTooLong: invalid(513, '{member}: each part must be at most 63 bytes.'),
  domainTooLong: invalid(514, '{member} must be at most 253 bytes.'),
  domainNotQualified: invalid(448, '{member} must be a full name such as app.example.com.'),
  domainIsAddress: invalid(90041, '{member} must be a name, not an IP address.'),
  domainIsSuffix: invalid(
    90042,
    '{member}: "{suffix}" is a public suffix, below which names are registered; only a name below it can be reserved.',
  ),
  gatewayDomain: invalid(90043, '{member}: {zone} and the names below it are for the gateway itself.'),
  domainNotIdna: invalid(90044, '{member} has letters, or an "xn--" part, that IDNA does not allow in a name.'),
  domainReservedByYou: conflict(413, 'This account has already reserved this domain.'),
  domainReservedByOther: conflict(
    414,
    'This domain cannot be reserved: another account holds or serves it, a name it would cover, or, below the base domain, a name of the same site.',
  ),
  wildcardOverBase: invalid(416, "{member}: a wildcard over the gateway's own base domain cannot be reserved."),
  baseDomain: invalid(450, "{member}: the gateway's own base domain cannot be reserved; a name below it can."),
  gatewayName: invalid(90370, '{member}: the gateway itself uses {domain}, so nobody else can have it.'),
  policyOnBaseDomain: invalid(439, "{member} must be null for a name under the gateway's own base domain."),
  badCertificateAuthorityName: invalid(435, '{member} must be "letsencrypt".'),
  badPrivateKeyType: invalid(1909, '{member} must be "ecdsa" or "rsa".'),
  badRegion: invalid(400, '{member} must be at most {max} bytes of letters, digits and hyphens.'),
  domainDescriptionTooLong: invalid(420, '{member} must be at most {max} bytes; this one has {actual}.'),
  domainMetadataTooLong: invalid(421, '{member} must be at most {max} bytes; this one has {actual}.'),
  certificateAndPolicy: invalid(434, '{member}: give a certificate or a certificate management policy, not both.'),
  certificateOnBaseDomain: invalid(
    440,
    "{member} must be null for a name under the gateway's own base domain, which has a certificate already.",
  ),
  unknownCertificate: invalid(90045, '{member} must name a TLS certificate of this account.'),
  certificateNames: invalid(90046, '{member}: the certificate does not cover {domain}, but {names}.'),
  certificateManaged: conflict(
    436,
    'The gateway obtained this certificate, and renews it; delete the certificate management policy of the domain instead.',
  ),
  certificatesOff: conflict(
    90380,
    'This gateway obtains no certificates: its operator has to agree to the terms of a certificate authority (ACME_TERMS_AGREED).',
  ),
  certificateWithoutPolicy: conflict(
    90381,
    'No certificate is to be obtained for this domain; give it a certificate management policy first.',
  ),
  certificateInForce: conflict(90382, 'The certificate is in force; it is renewed at {time}.'),
  certificateBlocked: conflict(
    90383,
    'The certificate authority, or a limit that the gateway keeps for it, allows no try before {time}.',
  ),
  certificateNotInForce: conflict(90384, 'The gateway has obtained no certificate for this domain that is in force.'),
  certificateBeingRevoked: conflict(90385, 'A certificate of this domain is being revoked already.'),
  acmeAccountMissing: conflict(90386, 'The gateway has no account at the certificate authority yet.'),
  addressTaken: conflict(
    90324,
    '{member}: this port is reserved, or another account serves it; ask for another, or for any.',
  ),
  addressPortRange: invalid(90326, '{member} must be from {first} to {last}, the TCP ports of this gateway.'),
  noAddressFree: conflict(503, 'No port from {first} to {last} is free; give one up, or widen TCP_PORTS.'),
  addressInUse: conflict(90325, 'The reserved address is still used by an edge; remove it from the edge first.'),
  domainResolution: invalid(
    90387,
    '{member} must be "global": the name of a domain leads to every node of the gateway.',
  ),
  domainInUse: conflict(
    446,
    'The reserved domain is still used by an edge, a cloud endpoint or an agent ingress; remove it there first.',
  ),
  agentIngressTaken: conflict(90720, 'Agents connect by this domain already: it is that of another agent ingress.'),
  agentIngressWildcard: invalid(
    90721,
    '{member} must be one name, as agents.example.com: agents connect to no wildcard.',
  ),
} satisfies Record<string, ErrorRow>;
