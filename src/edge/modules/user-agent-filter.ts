// Which programs may come in, by what they call themselves: the module `user_agent_filter`.

import type { HttpModule } from '../../http/module.ts';
import { decisionReport } from '../../http/module-report.ts';
import type { Pattern } from '../../policy/cel/regex.ts';
import { compilePattern, RegexError } from '../../policy/cel/regex.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';

export interface UserAgentFilterSettings extends ModuleSettings {
  /** Regular expressions (RE2). */
  allow: string[];
  deny: string[];
}

const report = decisionReport<'allow' | 'deny'>(
  'user_agent_filter',
  'What the user agent filter decided: "allow" or "deny".',
);

export const userAgentFilterModule: ModuleDescriptor<UserAgentFilterSettings> = {
  key: 'userAgentFilter',
  phase: 'client',
  create: (settings) => ({ http: userAgentFilter(settings) }),
  report,
  bindOption: {
    names: ['UserAgentFilter'],
    scope: 'http',
    read(options, name) {
      const lists = options.fields(name);
      return { enabled: true, allow: lists.texts('allow'), deny: lists.texts('deny') };
    },
  },
};

/**
 * Looks at the first `User-Agent`. What matches `allow` is let in, also when it matches `deny`: so exceptions are made.
 * Who matches neither is let in as long as there is something that is denied; an `allow` alone is all there is. Who sends
 * no `User-Agent` is let in only by an `allow` that matches the empty text, as `^$`.
 * @throws {SettingsError}
 */
export function userAgentFilter(settings: Pick<UserAgentFilterSettings, 'allow' | 'deny'>): HttpModule {
  const allow = settings.allow.map((text) => patternOf('allow', text));
  const deny = settings.deny.map((text) => patternOf('deny', text));
  const isOpen = deny.length > 0 || allow.length === 0;
  const refusal = (agent: string): string | undefined => {
    if (allow.some((pattern) => pattern.test(agent))) return undefined;
    if (agent === '') return 'it has no User-Agent, and no pattern allows that';
    const denied = deny.findIndex((pattern) => pattern.test(agent));
    if (denied >= 0) return `its User-Agent matches "${settings.deny[denied]}", which is denied`;
    return isOpen ? undefined : 'its User-Agent matches no pattern that is allowed';
  };
  return {
    name: 'user_agent_filter',
    onRequest({ request, decisions }) {
      const reason = refusal(request.fields.get('user-agent') ?? '');
      report.note(decisions, reason === undefined ? 'allow' : 'deny');
      return reason === undefined ? undefined : { kind: 'refuse', error: 'userAgentRefused', reason };
    },
  };
}

function patternOf(list: string, text: string): Pattern {
  try {
    return compilePattern(text);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new SettingsError(`${list}: "${text}" ${error.message}`);
  }
}
