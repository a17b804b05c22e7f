// Reads the options by which agents ask that visitors sign in.

import { SESSION_TIMES } from '../../policy/sign-in/limits.ts';
import type { Fields } from '../../protocol/messages/fields.ts';
import { AgentError } from '../../tunnel/control/agent-errors.ts';
import { SettingsError } from './settings-error.ts';
import type { SignInModuleSettings } from './sign-in.ts';
import type { SignInProblem } from './sign-in-problem.ts';

/** What the members of the settings are called in the option. */
const MEMBERS: Readonly<Record<string, string>> = {
  issuer: 'issuer_url',
  clientId: 'client_id',
  clientSecret: 'client_secret',
  emailAddresses: 'allow_emails',
  emailDomains: 'allow_domains',
};

/**
 * @param own what only this kind of option has.
 * @throws {SettingsError} {AgentError} for what is not right.
 */
export function readSignInOption<Own extends object>(
  name: string,
  option: Fields,
  own: Own,
  problemsOf: (settings: SignInModuleSettings & Own) => SignInProblem[],
): SignInModuleSettings & Own {
  const clientSecret = option.text('client_secret');
  // Only the service that sealed a secret can open it.
  if (!clientSecret && option.text('sealed_client_secret') !== '')
    throw new AgentError('optionNotActedOn', { option: 'sealed_client_secret' });
  const settings = {
    ...{ enabled: true, clientId: option.text('client_id'), clientSecret, scopes: option.texts('scopes') },
    ...{ emailAddresses: option.texts('allow_emails'), emailDomains: option.texts('allow_domains') },
    ...{ optionsPassthrough: false, cookiePrefix: '' },
    inactivityTimeout: SESSION_TIMES.idle.default / 1000,
    maximumDuration: SESSION_TIMES.max.default / 1000,
    ...own,
  };
  const [problem] = problemsOf(settings);
  if (!problem) return settings;
  const [, member = '', index = ''] = /^(\w+)(.*)$/s.exec(problem.member) ?? [];
  throw new SettingsError(`${name}: ${MEMBERS[member] ?? member}${index} ${problem.reason}`);
}
