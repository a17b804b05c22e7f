// Visitors who have signed in, and their sessions.

import { leaveVisitor } from '../../accounts/sample-rows.ts';
import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { row, the } from './rows.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const user = (world: World, got: any) => ({
  id: world.ids.appUser,
  uri: world.uri(`/app/users/${world.ids.appUser}`),
  identity_provider: { name: 'id.example.com', url: 'https://id.example.com' },
  provider_user_id: got?.provider_user_id,
  name: 'Ann Visitor',
  email: `${got?.provider_user_id}@example.com`,
  ...{ created_at: expected.time, last_active: expected.time, last_login: expected.time },
});

const session = (world: World) => ({
  id: world.ids.appSession,
  uri: world.uri(`/app/sessions/${world.ids.appSession}`),
  public_url: 'https://app.world.example.com',
  browser_session: {
    user_agent: { raw: 'Mozilla/5.0 (of these tests)' },
    ip_address: '192.0.2.8',
    location: null,
  },
  application_user: expected.refTo(world, '/app/users', world.ids.appUser),
  ...{ created_at: expected.time, last_active: expected.time, expires_at: expected.time },
  endpoint: expected.refTo(world, '/endpoints', world.ids.endpoint),
});

/** Somebody signed in for a row alone. */
const leave = async ({ gateway, account, ids }: World) => leaveVisitor(gateway, account, ids.endpoint);

export const visitorRows = [
  row('GET /app/users', 200, 'appUsers', {
    shape: shapes.appUser,
    list: 'application_users',
    answer: (world, got) =>
      expected.list(world, 'application_users', '/app/users', [user(world, got.application_users[0])]),
  }),
  row('GET /app/users/{id}', 200, 'appUser', { shape: shapes.appUser, at: the('appUser'), answer: user }),
  row('DELETE /app/users/{id}', 204, 'deleteAppUser', { at: async (world) => ({ id: (await leave(world)).appUser }) }),
  row('GET /app/sessions', 200, 'appSessions', {
    shape: shapes.appSession,
    list: 'application_sessions',
    answer: (world) => expected.list(world, 'application_sessions', '/app/sessions', [session(world)]),
  }),
  row('GET /app/sessions/{id}', 200, 'appSession', {
    shape: shapes.appSession,
    at: the('appSession'),
    answer: session,
  }),
  row('DELETE /app/sessions/{id}', 204, 'deleteAppSession', {
    at: async (world) => ({ id: (await leave(world)).appSession }),
  }),
];
