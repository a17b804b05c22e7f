// The action `openid-connect`: visitors sign in at an identity provider (OpenID Connect Core 1.0), with PKCE, state and nonce.

import { fetchProblem } from '../../auth/fetch-json.ts';
import type { ActionKind } from '../../settings/action-kind.ts';
import { PROBLEM } from '../../settings/problems.ts';
import { ISSUER_BYTES_MAX } from '../../sign-in/limits.ts';
import { signInAction } from '../../sign-in/sign-in-action.ts';
import { readTerms, SHARED_MEMBERS } from '../../sign-in/terms.ts';

export const openidConnectAction: ActionKind = {
  type: 'openid-connect',
  aliases: ['oidc'],
  phases: ['on_http_request'],
  members: ['issuer_url', 'idle_session_duration', ...SHARED_MEMBERS],
  result: 'oidc',
  compile(config) {
    const issuer = config.text('issuer_url', { max: ISSUER_BYTES_MAX });
    const problem = issuer.includes('${')
      ? 'must not be computed, because it is the same for all visitors'
      : fetchProblem(issuer, config.environment.policyHosts);
    if (issuer !== '' && problem) config.problem('issuer_url', PROBLEM.url, problem);
    const settings = readTerms(config, { issuer, isOAuth: false, scopes: ['openid'] }, [
      'idle_session_duration',
      'idle_session_timeout',
    ]);
    const names = {
      name: 'oidc',
      sessionId: 'current_session_id',
      wasChecked: 'user_info_refreshed',
      hasIdToken: true,
    };
    return { ...signInAction(config, settings, names), issuer };
  },
};
