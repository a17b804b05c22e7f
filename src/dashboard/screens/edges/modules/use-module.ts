// Changes one module of an edge or route.

import type { ApiFailure } from '../../../data/client/client.ts';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { toast } from '../../../ui/feedback/toast.tsx';
import { type Host, hostNouns, hostVariables, unsetOperation, updateOperations } from './hosts.ts';
import { inputOf, type Module, type SetModule, valuesOf } from './module-form.ts';

interface ModuleActions {
  /** Replaces it. @returns whether that worked. */
  save: (values: Readonly<Record<string, unknown>>, enabled: boolean) => Promise<boolean>;
  /** Switches it on or off as it is. */
  turn: (settings: SetModule) => Promise<boolean>;
  /** Unsets it; what can be set again can be undone. */
  unset: (settings: SetModule) => Promise<boolean>;
  error: ApiFailure | undefined;
  isBusy: boolean;
  clear: () => void;
}

export function useModule(host: Host, module: Module): ModuleActions {
  const saving = useMutation(updateOperations[host.kind]);
  const unsetting = useMutation(unsetOperation(host.kind, module.field));
  const where = hostVariables(host);
  const { field, title } = module;

  async function save(values: Readonly<Record<string, unknown>>, enabled: boolean) {
    const result = await saving.mutate({ ...where, input: { [field]: inputOf(module, values, enabled) } });
    return result !== undefined;
  }

  async function turn(settings: SetModule) {
    const isDone = await save(valuesOf(module, settings), !settings.enabled);
    if (isDone) toast(`${title} is ${settings.enabled ? 'off' : 'on'}.`);
    return isDone;
  }

  async function unset(settings: SetModule) {
    if ((await unsetting.mutate(where)) === undefined) return false;
    const undo = () => void save(valuesOf(module, settings), settings.enabled);
    const text = `The ${module.noun} of this ${hostNouns[host.kind]} is unset.`;
    toast(text, module.hasSecrets?.(settings) ? {} : { undo });
    return true;
  }

  return {
    save,
    turn,
    unset,
    error: saving.error ?? unsetting.error,
    isBusy: saving.isBusy || unsetting.isBusy,
    clear: () => {
      saving.reset();
      unsetting.reset();
    },
  };
}
