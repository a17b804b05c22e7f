// The basic auth module of a route: visitors have to know a user name and its password.

import type { BasicAuthSettings } from '../../../edge/modules/basic-auth.ts';
import { basicAuthModule } from '../../../edge/modules/basic-auth.ts';
import { DEFAULT_REALM } from '../../../policy/auth/basic-credentials.ts';
import { lockedModule } from '../../../store/edges/module-rows.ts';
import { openModule, sealModule } from '../../../store/edges/module-secrets.ts';
import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { httpsEdgeRoute } from '../hosts.ts';
import { type ApiModule, type ModuleWrite, secretOwner, storedUnder } from '../module.ts';

const CREDENTIALS_MAX = 10;
const USERNAME_MAX_BYTES = 255;
const REALM_MAX = 128;
/** Characters. */
const PASSWORD = { min: 8, max: 128 };

const realmText = 'What visitors are told they need a password for';

const BasicAuthCredential = builder.objectRef<{ username: string }>('BasicAuthCredential').implement({
  description: 'Somebody who is let in. Nobody can read a password once it is set.',
  fields: (t) => ({
    username: t.exposeString('username', { description: 'The user name.' }),
  }),
});

const BasicAuth = builder.objectRef<BasicAuthSettings>('BasicAuth').implement({
  description: 'Lets in only visitors who know a user name and its password (RFC 7617).',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: 'Whether it acts on traffic.' }),
    realm: t.exposeString('realm', { description: `${realmText}.` }),
    credentials: t.expose('credentials', { type: [BasicAuthCredential], description: 'Who is let in.' }),
  }),
});

const BasicAuthCredentialInput = builder.inputType('BasicAuthCredentialInput', {
  description: 'Somebody who is let in.',
  fields: (t) => ({
    username: t.string({
      required: true,
      description: `The user name: 1 to ${USERNAME_MAX_BYTES} bytes, without a colon.`,
    }),
    password: t.string({
      description:
        `The password: ${PASSWORD.min} to ${PASSWORD.max} characters. Left out, it stays as it is for a user name that ` +
        'the module has already.',
    }),
  }),
});

const BasicAuthInput = builder.inputType('BasicAuthInput', {
  description: 'Who is let in, by user name and password.',
  fields: (t) => ({
    enabled: t.boolean({ description: 'Whether it acts on traffic. Default true.' }),
    realm: t.string({
      description: `${realmText}: at most ${REALM_MAX} printable ASCII characters. Default \`${DEFAULT_REALM}\`.`,
    }),
    credentials: t.field({
      type: [BasicAuthCredentialInput],
      required: true,
      description: `Who is let in: 1 to ${CREDENTIALS_MAX} of them, each with another user name.`,
    }),
  }),
});

type Input = typeof BasicAuthInput.$inferInput;

/** The passwords that are set, by user name. The row is locked: what is kept is what the replaced module had. */
async function passwordsOf(writing: ModuleWrite): Promise<Map<string, string>> {
  const owner = secretOwner(httpsEdgeRoute, writing);
  const stored = await lockedModule(writing.db, owner, basicAuthModule);
  if (!stored) return new Map();
  const { credentials } = openModule(writing.context.app.keys, owner, basicAuthModule, stored);
  return new Map(credentials.map(({ username, password }) => [username, password]));
}

async function credentialsOf(
  given: Input['credentials'],
  writing: ModuleWrite,
): Promise<BasicAuthSettings['credentials']> {
  const place = `${writing.member}credentials`;
  const names = new Set(given.map(({ username }) => username));
  if (given.length < 1 || given.length > CREDENTIALS_MAX || names.size < given.length)
    throw new ApiError('credentialsCount', { member: place, max: CREDENTIALS_MAX });
  const known = given.every(({ password }) => password) ? new Map<string, string>() : await passwordsOf(writing);
  return checkEach(given, ({ username, password }, index) =>
    checkAll({
      username() {
        if (!isText(username) || username === '' || username.includes(':') || bytes(username) > USERNAME_MAX_BYTES)
          throw new ApiError('usernameWrong', { member: `${place}[${index}].username`, max: USERNAME_MAX_BYTES });
        return username;
      },
      password() {
        const chosen = password ?? known.get(username) ?? '';
        if (!isText(chosen) || chosen.length < PASSWORD.min || chosen.length > PASSWORD.max)
          throw new ApiError('passwordWrong', { member: `${place}[${index}].password`, ...PASSWORD });
        return chosen;
      },
    }),
  );
}

const isText = (text: string) => !/\p{Cc}/u.test(text);
const bytes = (text: string) => Buffer.byteLength(text);

export const basicAuth: ApiModule<{ modules: unknown }, BasicAuthSettings, Input> = {
  host: httpsEdgeRoute,
  ...storedUnder(basicAuthModule),
  noun: 'basic auth',
  type: BasicAuth,
  input: BasicAuthInput,
  selection: 'enabled realm credentials { username }',
  async write({ enabled, realm, credentials }, writing) {
    const { context, member } = writing;
    const checked = await checkAll({
      realm() {
        if (!/^[\x20-\x7e]{0,128}$/.test(realm ?? ''))
          throw new ApiError('realmWrong', { member: `${member}realm`, max: REALM_MAX });
        return realm || DEFAULT_REALM;
      },
      credentials: () => credentialsOf(credentials, writing),
    });
    const settings = { enabled: enabled ?? true, ...checked };
    const sealed = sealModule(context.app.keys, secretOwner(httpsEdgeRoute, writing), basicAuthModule, settings);
    return { modules: { [basicAuthModule.key]: sealed } };
  },
};
