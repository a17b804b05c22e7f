// The errors of what is uploaded, or listed, for edges to name: certificates, IP policies and IP restrictions.

import { conflict, type ErrorRow, invalid } from './error-row.ts';
import { restrictionErrors } from './restriction-errors.ts';

export const certificateErrors = {
  // Certificate authorities.
  pemMissing: invalid(1919, '{member} must hold a certificate in PEM.'),
  pemUnreadable: invalid(1920, '{member} does not hold a certificate that can be read.'),
  pemWrongType: invalid(1911, '{member} must hold a CERTIFICATE; this is {type}.'),
  pemHeaders: invalid(1910, '{member} must not have PEM headers.'),
  pemCount: invalid(1912, '{member} must hold exactly one certificate; this one has {actual}.'),
  notACertificateAuthority: invalid(
    1913,
    '{member}: the certificate is not that of an authority (basicConstraints CA must be true).',
  ),
  pemTooLarge: invalid(1921, '{member} must be at most {max} bytes.'),

  // TLS certificates.
  certificateMissing: invalid(
    1922,
    '{member} must hold a certificate in PEM, followed by the certificates of its issuers.',
  ),
  certificateUnreadable: invalid(1900, '{member} does not hold certificates in PEM that can be read.'),
  keyForCertificate: invalid(1925, '{member} holds a private key; it must hold the certificate.'),
  chainOrder: invalid(
    1926,
    '{member} must hold the certificates in order, each issued by the next: number {next} has not issued number {position}.',
  ),
  certificateExpired: invalid(90034, '{member}: the certificate has expired on {end}.'),
  certificateNotYetValid: invalid(
    90094,
    '{member}: the certificate is not valid before {begin}; visitors would refuse it until then.',
  ),
  certificatePurpose: invalid(
    90095,
    '{member}: the certificate is not for servers; its extended key usage must have serverAuth, or be left out.',
  ),
  certificateUnusable: invalid(90035, '{member} cannot be used for TLS: {reason}.'),
  keyMissing: invalid(1901, '{member} must hold a private key in PEM.'),
  keyEncrypted: invalid(1902, '{member}: the private key is encrypted; send it without a passphrase.'),
  keyUnreadable: invalid(1903, '{member} does not hold exactly one private key in PEM that can be read.'),
  keyKind: invalid(
    90036,
    '{member} must hold an RSA key of 2048 to 4096 bits, an ECDSA key (P-256, P-384, P-521) or an Ed25519 key.',
  ),
  keyDiffers: invalid(1923, '{member}: the private key does not belong to the certificate.'),
  certificateForKey: invalid(1924, '{member} holds a certificate; it must hold the private key.'),

  // IP policies and their rules.
  ipPolicyInUse: conflict(
    1420,
    'The IP policy is still used by an edge, a route or an IP restriction; remove it there first.',
  ),
  ruleMemberMissing: invalid(1405, '{member} must not be empty.'),
  badCidr: invalid(1406, '{member} must be a network such as 10.0.0.0/8 or 2001:db8::/32.'),
  cidrTaken: conflict(1408, 'Another rule of this IP policy has the same network.'),
  cidrNotLowest: invalid(1409, '{member} must begin with the lowest address of the network, which is {right}.'),
  cidrMask: invalid(1413, '{member} must have a prefix length; for this single address, {right}.'),
  unknownIpPolicyOfRule: invalid(1414, '{member} must name an IP policy of this account.'),
  tooManyIpPolicyRules: invalid(1417, 'An IP policy may have at most {max} rules.'),
  badRuleAction: invalid(1422, '{member} must be "allow" or "deny".'),

  ...restrictionErrors,
} satisfies Record<string, ErrorRow>;
