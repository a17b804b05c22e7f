// The registry of action kinds. A new kind is a file and a line here.

import { suggestion } from '../cel/names.ts';
import type { ActionKind } from '../settings/action-kind.ts';
import { addHeadersAction } from './add-headers.ts';
import { allowHalfCloseAction } from './allow-half-close.ts';
import { basicAuthAction } from './authentication/basic-auth.ts';
import { jwtValidationAction } from './authentication/jwt-validation.ts';
import { oauthAction } from './authentication/oauth.ts';
import { openidConnectAction } from './authentication/openid-connect.ts';
import { verifyWebhookAction } from './authentication/verify-webhook.ts';
import { requestBodyFindReplaceAction } from './bodies/request-body-find-replace.ts';
import { responseBodyFindReplaceAction } from './bodies/response-body-find-replace.ts';
import { sseFindReplaceAction } from './bodies/sse-find-replace.ts';
import { circuitBreakerAction } from './circuit-breaker.ts';
import { closeConnectionAction } from './close-connection.ts';
import { compressResponseAction } from './compress-response.ts';
import { customResponseAction } from './custom-response.ts';
import { denyAction } from './deny.ts';
import { forwardInternalAction } from './forward-internal.ts';
import { hostHeaderAction } from './host-header.ts';
import { httpRequestAction } from './http-request.ts';
import { logAction } from './log.ts';
import { rateLimitAction } from './rate-limit.ts';
import { redirectAction } from './redirect.ts';
import { removeHeadersAction } from './remove-headers.ts';
import { restrictIpsAction } from './restrict-ips.ts';
import { setHeadersAction } from './set-headers.ts';
import { setVarsAction } from './set-vars.ts';
import { terminateTlsAction } from './terminate-tls.ts';
import { upstreamTimeoutAction } from './upstream-timeout.ts';
import { urlRewriteAction } from './url-rewrite.ts';

/** All kinds, in the order of their current type names. */
export const actionKinds: readonly ActionKind[] = [
  addHeadersAction,
  allowHalfCloseAction,
  basicAuthAction,
  circuitBreakerAction,
  closeConnectionAction,
  compressResponseAction,
  customResponseAction,
  denyAction,
  forwardInternalAction,
  hostHeaderAction,
  httpRequestAction,
  jwtValidationAction,
  logAction,
  oauthAction,
  openidConnectAction,
  rateLimitAction,
  redirectAction,
  removeHeadersAction,
  requestBodyFindReplaceAction,
  responseBodyFindReplaceAction,
  restrictIpsAction,
  setHeadersAction,
  setVarsAction,
  sseFindReplaceAction,
  terminateTlsAction,
  upstreamTimeoutAction,
  urlRewriteAction,
  verifyWebhookAction,
];

const byType = new Map<string, ActionKind>(
  actionKinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((type) => [type, kind] as const)),
);

/** The reasons why known action types are not available, worded to be read after the type. */
const identity = 'needs an identity provider that speaks SAML, which comes in a later version of this gateway';
const later = 'is not available in this version of the gateway';
const unavailable: Readonly<Record<string, string>> = {
  saml: identity,
  'ai-gateway': later,
  'owasp-crs-request': later,
  'owasp-crs-response': later,
};

/** Finds a kind. @param type the type in a policy, which may be an older name. */
export function actionKind(type: string): ActionKind | undefined {
  return byType.get(type);
}

/** The message for an unknown action type, worded to be read after its path. */
export function unknownAction(type: string): string {
  const reason = Object.hasOwn(unavailable, type) ? unavailable[type] : undefined;
  if (reason) return `${type} ${reason}`;
  return `is not a known action${suggestion(type, byType.keys()) || `; known are: ${[...byType.keys()].join(', ')}`}`;
}
