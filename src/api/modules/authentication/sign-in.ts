// What the modules `oidc` and `oauth` have in common in the API.

import type { ModuleDescriptor } from '../../../edge/modules/descriptor.ts';
import type { SignInModuleSettings } from '../../../edge/modules/sign-in.ts';
import type { SignInProblem } from '../../../edge/modules/sign-in-problem.ts';
import { SESSION_TIMES } from '../../../policy/sign-in/limits.ts';
import { lockedModule } from '../../../store/edges/module-rows.ts';
import { openModule, sealModule } from '../../../store/edges/module-secrets.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { httpsEdgeRoute } from '../hosts.ts';
import { type HostChange, type ModuleWrite, secretOwner } from '../module.ts';

const defaults = { idle: SESSION_TIMES.idle.default / 1000, max: SESSION_TIMES.max.default / 1000 };

export const signInText = {
  enabled: 'Whether it acts on traffic.',
  clientId: 'The id by which the provider knows the gateway.',
  clientSecret: 'Always null: nobody can read the secret once it is set.',
  clientSecretInput: 'The secret of the client. Left out, it stays as it is while provider and client id are the same.',
  scopes: 'The scopes that are asked for besides those by which the provider says who the visitor is.',
  emailAddresses: 'E-mail addresses whose owners are let in, as far as the provider has verified them.',
  emailDomains: 'Domains of e-mail addresses whose owners are let in.',
  optionsPassthrough: 'Whether preflights of CORS pass without a session.',
  cookiePrefix: 'What the names of the cookies have in them. At most 64 letters, digits and dots.',
  inactivityTimeout: 'After how many seconds without a request a session ends.',
  maximumDuration: 'After how many seconds a session ends in any case.',
  inactivityTimeoutInput: `Default, also for 0, ${defaults.idle}; from 60 to 31536000.`,
  maximumDurationInput: `Default, also for 0, ${defaults.max}; from 60 to 31536000.`,
};

/** The members that the inputs of both modules have. */
interface SessionInput {
  enabled?: boolean | null | undefined;
  optionsPassthrough?: boolean | null | undefined;
  cookiePrefix?: string | null | undefined;
  inactivityTimeout?: number | null | undefined;
  maximumDuration?: number | null | undefined;
}

/** The settings that both modules have at their top, with their defaults. */
export function sessionSettings(input: SessionInput) {
  return {
    enabled: input.enabled ?? true,
    optionsPassthrough: input.optionsPassthrough ?? false,
    cookiePrefix: input.cookiePrefix ?? '',
    inactivityTimeout: input.inactivityTimeout || defaults.idle,
    maximumDuration: input.maximumDuration || defaults.max,
  };
}

/** Stands for a secret while it is not known. */
export const ANY_SECRET = '-';

/** The secret to store. One that is left out is that of the replaced module, for the same client alone: no other may get it. */
export async function clientSecretOf<Settings extends SignInModuleSettings>(
  given: string | null | undefined,
  descriptor: ModuleDescriptor<Settings>,
  isSame: (replaced: Settings) => boolean,
  writing: ModuleWrite,
): Promise<string> {
  if (given != null) return given;
  // The row is locked, so that a secret that is kept is the one of the module that is replaced.
  const owner = secretOwner(httpsEdgeRoute, writing);
  const stored = await lockedModule(writing.db, owner, descriptor);
  if (!stored || !isSame(stored))
    throw new ApiError('clientSecretMissing', { member: `${writing.member}clientSecret` });
  return openModule(writing.context.app.keys, owner, descriptor, stored).clientSecret;
}

/**
 * What is written of a module.
 * @param settings with a secret that stands for the one that `secretOf` gives.
 * @throws {ApiError} naming all that is wrong with it, also when there is no secret.
 */
export async function sealedSignIn<Settings extends SignInModuleSettings>(
  settings: Settings,
  secretOf: () => Promise<string>,
  descriptor: ModuleDescriptor<Settings>,
  problemsOf: (settings: Settings) => readonly SignInProblem[],
  writing: ModuleWrite,
): Promise<HostChange> {
  let whole = settings;
  await checkAll({
    async secret() {
      whole = { ...settings, clientSecret: await secretOf() };
    },
    settings: () =>
      checkEach(problemsOf(whole), ({ member, reason }) => {
        throw new ApiError('signInSettingWrong', { member: writing.member + member, reason });
      }),
  });
  const sealed = sealModule(writing.context.app.keys, secretOwner(httpsEdgeRoute, writing), descriptor, whole);
  return { modules: { [descriptor.key]: sealed } };
}
