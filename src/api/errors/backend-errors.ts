// Errors of backends, of what names them, and of the labels by which they choose tunnels.

import { conflict, invalid } from './error-row.ts';

export const backendErrors = {
  backendMissing: invalid(6526, '{member} is required.'),
  unknownBackend: invalid(6501, '{member} must name a backend of this account.'),
  backendInUse: conflict(
    6502,
    'The backend is still used by an edge, a route or another backend; remove it there first.',
  ),
  labelsMissing: invalid(90054, '{member} must have at least one label.'),
  tooManyLabels: invalid(6508, '{member} may have at most {max} labels.'),
  labelKeyLength: invalid(6509, '{member}: a label\'s key must be 1 to {max} bytes and must not contain "=".'),
  labelValueLength: invalid(6510, "{member}: a label's value must be 1 to {max} bytes."),
  backendsMissing: invalid(90660, '{member} must name at least one backend.'),
  tooManyWeightedBackends: invalid(6511, '{member} may name at most {max} backends.'),
  tooManyFailoverBackends: invalid(6513, '{member} may name at most {max} backends.'),
  unknownMemberBackend: invalid(6514, '{member}: your account has no backend "{name}".'),
  backendRepeated: invalid(90661, '{member} occurs twice in the list.'),
  weightRange: invalid(6512, '{member}: the weight of "{name}" must be from 0 to {max}.'),
  backendCircle: invalid(90662, '{member}: a backend must not lead to itself, as it would over "{name}".'),
  tooManyNestedBackends: invalid(
    90663,
    '{member}: a backend may lead to at most {max} backends over all its members; "{name}" would lead to {actual}.',
  ),
  nestedResponsesTooLarge: invalid(
    90664,
    '{member}: the HTTP responses that a backend leads to may have at most {max} bytes in all; those of "{name}" would have {actual}.',
  ),
  responseOfConnections: invalid(
    90665,
    '{member}: an HTTP response can only be given to requests, so only routes of HTTPS edges may lead to one; "{name}" is used by a TLS or TCP edge.',
  ),
  responseOnConnectionEdge: invalid(
    90666,
    '{member} must name a backend that leads to tunnels or addresses only, because this edge handles no requests; "{name}" is an HTTP response.',
  ),
  backendAddress: invalid(
    90668,
    '{member} must be a host and a port, as in "api.example.com:443", "192.0.2.1:8080" or "[2001:db8::1]:443"; names are in ASCII (xn--…), without a dot at their end.',
  ),
  backendAddressPort: invalid(90669, '{member} must have a port from {min} to {max}; this one has {actual}.'),
  backendAddressTooLong: invalid(90670, '{member} must be at most {max} bytes; this one has {actual}.'),
  backendAddressForbidden: invalid(
    90671,
    '{member} must be at an address of the public Internet, or at one that the operator allows: "{host}" is not (BACKEND_HOSTS of the gateway).',
  ),
  responseStatusRange: invalid(6517, '{member} must be from {min} to {max}.'),
  responseBodyTooLarge: invalid(6516, '{member} must be at most {max} bytes; this one has {actual}.'),
  responseBodyRefused: invalid(90667, '{member} must be left out or empty: a response of status {status} has no body.'),
};
