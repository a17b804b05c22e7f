// Sessions of visitors: listed, and ended, which signs the visitor out.

import { APP_SESSION_KIND, APP_SESSION_PREFIX } from '../../../store/visitors/app-session-kind.ts';
import { whereAlive } from '../../../store/visitors/app-session-rows.ts';
import { collection, deleteMutation, readRoutes } from '../../collections/collection.ts';
import { ID_MEMBER, id, text, time } from '../../collections/members.ts';
import { route } from '../../route.ts';
import { AppSession } from './app-session-type.ts';

const appSessions = collection({
  kind: APP_SESSION_KIND,
  prefix: APP_SESSION_PREFIX,
  path: '/app/sessions',
  single: 'appSession',
  plural: 'appSessions',
  typeName: 'AppSession',
  ref: AppSession,
  members: {
    ...ID_MEMBER,
    public_url: text('publicUrl'),
    'browser_session.ip_address': text('ip'),
    'application_user.id': id('userId'),
    'endpoint.id': id('endpointId'),
    created_at: time('createdAt', { isOrdered: false }),
    last_active: time('lastActiveAt', { isOrdered: false }),
  },
  table: (db) => db.appSession,
  where: ({ app }) => whereAlive(app.now()),
  audit: { name: 'app_session', subject: 'A session of a visitor', actions: ['deleted'] },
  search: {
    ...{
      rank: 168,
      table: 'app_session',
      title: 't.public_url',
      detail: `concat_ws(', ', t.ip, nullif(t.user_agent, ''))`,
    },
    where: 't.expires_at > now() AND t.idle_ends_at > now()',
    texts: ['t.public_url', 't.ip', 't.user_agent'],
  },
});

deleteMutation(appSessions, 'deleteAppSession', {
  description:
    'Signs a visitor out: ends a session, with the WebSockets and streams that are open in it. Answers with its id. The ' +
    'provider may still know the visitor, and sign the same browser in again without a question.',
});

const selectionWith = (userAgent = '', more = '') =>
  `id uri publicUrl browserSession { userAgent { raw ${userAgent} } ipAddress ` +
  'location { countryCode latitude longitude latLongRadiusKm } } ' +
  `applicationUser { id uri } createdAt lastActive expiresAt endpoint { id uri } ${more}`;

const extended = {
  selection: selectionWith(
    'browserName browserVersion deviceType osName osVersion',
    'edge { id uri } route { id uri }',
  ),
};

export const routes = [
  ...readRoutes(appSessions, 'application_sessions', selectionWith(), extended),
  route('DELETE', '/app/sessions/:id', 204, 'deleteAppSession'),
];
