// What traffic events say of visitors who sign in, by whatever action or module.

import { ModuleReport } from '../../http/module-report.ts';
import type { VisitorSession } from '../../http/visitor-sessions.ts';

interface SignInDecision {
  decision: 'allow' | 'deny';
  clientId: string;
  /** Who the visitor is; undefined: nobody has signed in. */
  visitor: Pick<VisitorSession, 'subject' | 'name'> | undefined;
}

export const signInReport = new ModuleReport<SignInDecision>('oauth', {
  app_client_id: {
    type: 'string',
    description:
      'The id of the client at the identity provider, of OAuth or OpenID Connect, that visitors sign in with.',
    read: ({ clientId }) => clientId,
  },
  decision: {
    type: 'word',
    description:
      'Whether the visitor had signed in, and was let in: "allow" or "deny". Rules after it may still reject.',
    read: ({ decision }) => decision,
  },
  'user.id': {
    type: 'string',
    description: 'The id of the visitor at the identity provider; "" for one who has not signed in.',
    read: ({ visitor }) => visitor?.subject ?? '',
  },
  'user.name': {
    type: 'string',
    description: 'The name of the visitor at the identity provider; "" for one who has not signed in.',
    read: ({ visitor }) => visitor?.name ?? '',
  },
});
