// A trial of an ACL before a credential gets it. Nothing is stored.

import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import type { Route } from '../../route.ts';
import {
  type BindEvaluation,
  evaluateAcl,
  type RuleExplanation,
  type AclEvaluation as Trial,
} from './acl-evaluation.ts';
import { RULES_MAX } from './credentials.ts';

const BINDS_MAX = 100;

const AclRuleMeaning = builder.objectRef<RuleExplanation>('AclRuleMeaning').implement({
  description: 'What a rule of an ACL means.',
  fields: (t) => ({
    rule: t.exposeString('rule', { description: 'The rule, as it was given.' }),
    isValid: t.exposeBoolean('isValid', { description: 'Whether it is a rule that a credential can have.' }),
    message: t.exposeString('message', { description: 'What it allows, in words; or what is wrong with it.' }),
  }),
});

const AclBindTrial = builder.objectRef<BindEvaluation>('AclBindTrial').implement({
  description: 'Whether an ACL lets an agent bind something.',
  fields: (t) => ({
    bind: t.exposeString('bind', { description: 'What was asked about, as it was given.' }),
    isAllowed: t.exposeBoolean('isAllowed', { description: 'Whether the ACL allows it.' }),
    message: t.exposeString('message', { description: 'By which rule, or why not.' }),
  }),
});

const AclTrial = builder.objectRef<Trial>('AclTrial').implement({
  description: 'What an ACL means, and what it allows.',
  fields: (t) => ({
    rules: t.field({
      type: [AclRuleMeaning],
      description: 'Its rules, in the same order. What any one of them allows is allowed.',
      resolve: ({ rules }) => rules,
    }),
    isValid: t.exposeBoolean('isValid', {
      description: 'Whether a credential can have it: all of its rules are right.',
    }),
    binds: t.field({
      type: [AclBindTrial],
      description: 'What was asked about, in the same order. A rule that is not right allows nothing.',
      resolve: ({ binds }) => binds,
    }),
  }),
});

builder.queryField('tryAcl', (t) =>
  t.field({
    type: AclTrial,
    nullable: true,
    access: { kind: 'credential' },
    weight: FEW_PER_DOCUMENT,
    description:
      'Says in words what the rules of an ACL allow, and whether they let an agent bind what you ask about. It looks at ' +
      'the rules alone: whether a name is reserved or taken is another matter. Nothing is stored.',
    args: {
      acl: t.arg.stringList({
        required: true,
        description: 'The rules, as a credential has them; at most 500. Without any, everything is allowed.',
      }),
      binds: t.arg.stringList({
        defaultValue: [],
        description:
          'What an agent might want to bind: names as `app.example.com`, addresses as `1.example.com:20000`, labels as ' +
          '`key=value`; at most 100.',
      }),
    },
    resolve: (_, { acl, binds }) => {
      checkAll({
        acl() {
          if (acl.length > RULES_MAX) throw new ApiError('tooManyAclRules', { member: 'acl', max: RULES_MAX });
        },
        binds() {
          if (binds && binds.length > BINDS_MAX)
            throw new ApiError('tooManyBinds', { member: 'binds', max: BINDS_MAX });
        },
      });
      return evaluateAcl(acl, binds ?? []);
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
