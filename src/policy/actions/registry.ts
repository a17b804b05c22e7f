// The kinds of actions that there are. A new one is a file, and a line here.

import { suggestion } from '../cel/names.ts';
import type { ActionKind } from '../settings/action-kind.ts';
import { addHeaders } from './add-headers.ts';
import { basicAuth } from './basic-auth.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { closeConnection } from './close-connection.ts';
import { compressResponse } from './compress-response.ts';
import { customResponse } from './custom-response.ts';
import { deny } from './deny.ts';
import { forwardInternal } from './forward-internal.ts';
import { jwtValidation } from './jwt-validation.ts';
import { log } from './log.ts';
import { rateLimit } from './rate-limit.ts';
import { redirect } from './redirect.ts';
import { removeHeaders } from './remove-headers.ts';
import { restrictIps } from './restrict-ips.ts';
import { setVars } from './set-vars.ts';
import { terminateTls } from './terminate-tls.ts';
import { urlRewrite } from './url-rewrite.ts';
import { verifyWebhookAction } from './verify-webhook.ts';

/** All kinds, by the names that policies call them now. */
export const actionKinds: readonly ActionKind[] = [
  addHeaders,
  basicAuth,
  circuitBreaker,
  closeConnection,
  compressResponse,
  customResponse,
  deny,
  forwardInternal,
  jwtValidation,
  log,
  rateLimit,
  redirect,
  removeHeaders,
  restrictIps,
  setVars,
  terminateTls,
  urlRewrite,
  verifyWebhookAction,
];

const byType = new Map<string, ActionKind>(
  actionKinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((type) => [type, kind] as const)),
);

/** Why actions that are known elsewhere cannot be had here, in words to be read behind their type. */
const identity = 'needs an identity provider, which comes in a later version of this gateway';
const later = 'is not available in this version of the gateway';
const unavailable: Readonly<Record<string, string>> = {
  oauth: identity,
  'openid-connect': identity,
  oidc: identity,
  saml: identity,
  'ai-gateway': later,
  'http-request': later,
  'owasp-crs-request': later,
  'owasp-crs-response': later,
  'request-body-find-replace': later,
  'response-body-find-replace': later,
  'sse-find-replace': later,
};

/** @param type as a policy has it, perhaps an older name. */
export function actionKind(type: string): ActionKind | undefined {
  return byType.get(type);
}

/** Why there is no such action, to be read behind its place. */
export function unknownAction(type: string): string {
  const reason = Object.hasOwn(unavailable, type) ? unavailable[type] : undefined;
  if (reason) return `${type} ${reason}`;
  return `is no action that is known here${suggestion(type, byType.keys()) || `; known are: ${[...byType.keys()].join(', ')}`}`;
}
