// The action `basic-auth`: requires a user name and a password.

import {
  basicChallenge,
  credentialsDigest,
  DEFAULT_REALM,
  matchesDigest,
  readBasicCredentials,
  splitCredentials,
} from '../../auth/basic-credentials.ts';
import type { Template } from '../../cel/template.ts';
import type { ActionKind, ConfigReader } from '../../settings/action-kind.ts';
import { PROBLEM } from '../../settings/problems.ts';

const CREDENTIALS_MAX = 10;
/** The length of a password, in characters. */
const PASSWORD = { min: 8, max: 128 };
const REALM_MAX = 128;
const NUMBER = { pair: 2257, password: 2258 };
/** A pair that is one interpolation, whose result must contain the colon. */
const WHOLE = /^\$\{.*\}$/s;

export const basicAuthAction: ActionKind = {
  type: 'basic-auth',
  phases: ['on_http_request'],
  members: ['credentials', 'realm', 'enforce'],
  result: 'basic_auth',
  compile(config) {
    const templates = config.templates('credentials', { min: 1, max: CREDENTIALS_MAX });
    templates.forEach((template, i) => {
      checkPair(config, `credentials[${i}]`, template);
    });
    const constant = templates.flatMap((template) => digestsOf(template.constant));
    const computed = templates.filter((template) => template.constant === undefined);
    const realm = config.text('realm', { max: REALM_MAX, default: DEFAULT_REALM });
    if (!/^[\x20-\x7e]*$/.test(realm))
      config.problem('realm', PROBLEM.field, 'must have printable ASCII characters only');
    const enforce = config.flag('enforce', true);
    return {
      isTerminal: false,
      run(run) {
        const presented = run.exchange && readBasicCredentials(run.exchange.request.fields);
        const digests =
          computed.length === 0
            ? constant
            : [...constant, ...computed.flatMap((template) => digestsOf(template.evaluate(run.bindings)))];
        const authorized = presented !== undefined && matchesDigest(presented, digests);
        const credentials = { presented: presented !== undefined, username: presented?.username ?? '', authorized };
        run.result('basic_auth', { credentials });
        return authorized || !enforce ? undefined : basicChallenge(realm, presented);
      },
    };
  },
};

/** The digests of a pair; none when it is malformed or its password is too short or too long, so that nobody can use it. */
function digestsOf(pair: string | undefined): Buffer[] {
  const credentials = splitCredentials(pair ?? '');
  return credentials && isPassword(credentials.password) ? [credentialsDigest(credentials)] : [];
}

function isPassword(password: string): boolean {
  return password.length >= PASSWORD.min && password.length <= PASSWORD.max;
}

function checkPair(config: ConfigReader, path: string, { text, constant }: Template): void {
  const pair = splitCredentials(text);
  if (!pair && (constant !== undefined || !WHOLE.test(text)))
    config.problem(path, NUMBER.pair, 'must be a user name, a colon and a password, as "user:password"');
  else if (constant !== undefined && !isPassword(pair?.password ?? ''))
    config.problem(path, NUMBER.password, `must have a password of ${PASSWORD.min} to ${PASSWORD.max} characters`);
}
