// The user agent filter module of a route: which kinds of clients are let in.

import type { UserAgentFilterSettings } from '../../edge/modules/user-agent-filter.ts';
import { userAgentFilterModule } from '../../edge/modules/user-agent-filter.ts';
import { compilePattern } from '../../policy/cel/regex.ts';
import { builder } from '../builder/builder.ts';
import { ApiError } from '../errors/errors.ts';
import { checkAll, checkEach } from '../errors/problems.ts';
import { checkBytes } from '../text-limits.ts';
import { httpsEdgeRoute } from './hosts.ts';
import { type ApiModule, storedUnder } from './module.ts';

/** Of each list. */
const PATTERNS_MAX = 100;
const PATTERN_MAX_BYTES = 1024;

const text = {
  enabled: 'Whether it acts on traffic.',
  allow: 'Regular expressions (RE2) for the `User-Agent` of visitors who are let in.',
  deny: 'Regular expressions (RE2) for the `User-Agent` of visitors who are turned away.',
};

const UserAgentFilter = builder.objectRef<UserAgentFilterSettings>('UserAgentFilter').implement({
  description: 'Turns away visitors by their `User-Agent`, with 403.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    allow: t.exposeStringList('allow', { description: text.allow }),
    deny: t.exposeStringList('deny', { description: text.deny }),
  }),
});

const UserAgentFilterInput = builder.inputType('UserAgentFilterInput', {
  description:
    'Which clients are let in, by their `User-Agent`. A pattern matches anywhere in it; `^` and `$` anchor it.',
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    allow: t.stringList({ description: `${text.allow} At most ${PATTERNS_MAX}.` }),
    deny: t.stringList({ description: `${text.deny} At most ${PATTERNS_MAX}.` }),
  }),
});

type Input = typeof UserAgentFilterInput.$inferInput;

function checkPatterns(member: string, patterns: string[]): string[] {
  if (patterns.length > PATTERNS_MAX) throw new ApiError('tooManyPatterns', { member, max: PATTERNS_MAX });
  checkEach(patterns, (pattern, index) => {
    const place = `${member}[${index}]`;
    checkBytes(place, pattern, PATTERN_MAX_BYTES, 'patternTooLong');
    try {
      compilePattern(pattern);
    } catch (error) {
      throw new ApiError('patternWrong', { member: place, reason: (error as Error).message });
    }
  });
  return patterns;
}

export const userAgentFilter: ApiModule<{ modules: unknown }, UserAgentFilterSettings, Input> = {
  host: httpsEdgeRoute,
  ...storedUnder(userAgentFilterModule),
  noun: 'user agent filter',
  type: UserAgentFilter,
  input: UserAgentFilterInput,
  selection: 'enabled allow deny',
  write: ({ enabled, allow, deny }, { member }) => ({
    modules: {
      [userAgentFilterModule.key]: {
        enabled: enabled ?? true,
        ...checkAll({
          allow: () => checkPatterns(`${member}allow`, allow ?? []),
          deny: () => checkPatterns(`${member}deny`, deny ?? []),
        }),
      },
    },
  }),
};
