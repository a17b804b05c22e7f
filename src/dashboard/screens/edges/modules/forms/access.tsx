// Modules for access control and TLS.

import { allOf, maxBytes } from '../../../../ui/forms/validators.ts';
import { AuthorityForm } from '../../authorities/form.tsx';
import { IpPolicyForm } from '../../ip-policies/form.tsx';
import { certificateAuthorityReference, ipPolicyReference } from '../../references/references.ts';
import { credentialsField, usernamesIn } from '../credentials-field.tsx';
import {
  listField,
  referenceIds,
  referenceListField,
  secretField,
  selectField,
  stringList,
  textField,
} from '../field-kinds.tsx';
import type { ModuleForm } from '../module-form.ts';
import { webhookProviderField } from '../webhook-fields.tsx';
import { changesInWords } from './summaries.ts';

const patterns = { itemName: 'pattern', maxLines: 100, placeholder: '(?i)bot', validateLine: maxBytes(1024) };

const minVersion = selectField('minVersion', {
  label: 'Oldest version of TLS',
  options: [
    { value: '1.2', title: 'TLS 1.2' },
    { value: '1.3', title: 'TLS 1.3' },
  ],
  help: 'Visitors who speak only older ones are turned away.',
});

export const accessForms = {
  tlsTermination: {
    title: 'TLS termination',
    noun: 'TLS termination',
    description:
      'Who ends the TLS of visitors. Without it TLS goes through to the agent as it is, unless mutual TLS is on.',
    fields: [
      selectField('terminateAt', {
        label: 'Who ends TLS',
        options: [
          { value: 'EDGE', title: 'The gateway: the agent gets what was in it' },
          { value: 'UPSTREAM', title: 'The agent: TLS goes through as it is' },
        ],
      }),
      minVersion,
    ],
    summary: ({ terminateAt, minVersion }) =>
      terminateAt === 'UPSTREAM' ? 'TLS goes through to the agent' : `at the gateway, from TLS ${minVersion} on`,
    on: {
      httpsEdge: {
        description: 'An HTTPS edge always ends the TLS of visitors; this says from which version on.',
        fields: [minVersion],
        summary: ({ minVersion }) => `from TLS ${minVersion} on`,
      },
    },
  },
  mutualTls: {
    title: 'Mutual TLS',
    noun: 'mutual TLS',
    description: 'Lets in only visitors whose certificate one of these authorities has issued.',
    fields: [
      referenceListField('certificateAuthorityIds', {
        label: 'Certificate authorities',
        type: certificateAuthorityReference,
        form: AuthorityForm,
        shownAs: 'certificateAuthorities',
        maxItems: 10,
        help: '1 to 10 of them. The edge has to end TLS itself.',
      }),
    ],
    references: ({ certificateAuthorities }) => referenceIds(certificateAuthorities),
  },
  ipRestriction: {
    title: 'IP restriction',
    noun: 'IP restriction',
    description: 'Lets in only visitors whose address one of these IP policies allows, and none of them denies.',
    fields: [
      referenceListField('ipPolicyIds', {
        label: 'IP policies',
        type: ipPolicyReference,
        form: IpPolicyForm,
        shownAs: 'ipPolicies',
        maxItems: 10,
        help: '1 to 10 of them.',
      }),
    ],
    references: ({ ipPolicies }) => referenceIds(ipPolicies),
  },
  userAgentFilter: {
    title: 'User agent filter',
    noun: 'user agent filter',
    description:
      'Turns away visitors by their User-Agent. A pattern is a regular expression (RE2) that matches anywhere in it.',
    fields: [
      listField('allow', {
        ...patterns,
        label: 'Let in',
        help: 'Whoever matches one is let in, even if a pattern below matches too. Alone, it lets in nobody else.',
      }),
      listField('deny', {
        ...patterns,
        label: 'Turn away',
        help: 'Visitors without a User-Agent are let in only by the pattern ^$ above.',
      }),
    ],
    summary: ({ allow, deny }) => changesInWords({ 'lets in': stringList(allow), 'turns away': stringList(deny) }),
  },
  basicAuth: {
    title: 'Basic auth',
    noun: 'basic auth',
    description: 'Lets in only visitors who know a user name and its password.',
    fields: [
      credentialsField('credentials'),
      textField('realm', {
        label: 'Realm',
        help: 'What visitors are told they need a password for.',
        initial: 'gateway',
        validate: allOf(maxBytes(128), (value) =>
          /^[\x20-\x7e]*$/.test(value) ? null : 'Only printable ASCII characters are taken.',
        ),
      }),
    ],
    summary: (settings) => usernamesIn(settings, 'credentials').join(', '),
    hasSecrets: () => true,
  },
  webhookVerification: {
    title: 'Webhook verification',
    noun: 'webhook verification',
    description: 'Turns away requests that the provider of webhooks has not signed.',
    fields: [
      webhookProviderField('provider'),
      secretField('secret', {
        label: 'Secret',
        help: 'What the provider signs with. Nobody can read it once it is set. For sns none is needed.',
        storedHelp:
          'What the provider signs with. Left empty, it stays as it is while the provider is the same. For sns none is needed.',
        validate: maxBytes(4096),
      }),
    ],
    summary: ({ provider }) => `signed by ${provider}`,
    hasSecrets: () => true,
  },
} satisfies Record<string, ModuleForm>;
