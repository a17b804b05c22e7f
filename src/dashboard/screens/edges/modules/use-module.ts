// The mutations of one module of an edge or route.

import type { ApiFailure } from '../../../data/client/client.ts';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { toast, toastWithUndo } from '../../../ui/feedback/toast.tsx';
import { hostNouns, hostVariables, type ModuleHost, unsetOperation, updateOperations } from './hosts.ts';
import { type ConfiguredModule, initialValues, type Module, moduleInput } from './module-form.ts';

interface ModuleActions {
  /** Replaces the settings. @returns whether it succeeded. */
  save: (values: Readonly<Record<string, unknown>>, enabled: boolean) => Promise<boolean>;
  /** Enables or disables the module without changing its settings. */
  toggle: (settings: ConfiguredModule) => Promise<boolean>;
  /** Unsets the module. The toast offers an undo unless secrets are lost. */
  unset: (settings: ConfiguredModule) => Promise<boolean>;
  error: ApiFailure | undefined;
  isBusy: boolean;
  reset: () => void;
}

export function useModule(host: ModuleHost, module: Module): ModuleActions {
  const saving = useMutation(updateOperations[host.kind]);
  const unsetting = useMutation(unsetOperation(host.kind, module.field));
  const where = hostVariables(host);
  const { field, title } = module;

  async function save(values: Readonly<Record<string, unknown>>, enabled: boolean) {
    const result = await saving.mutate({ ...where, input: { [field]: moduleInput(module, values, enabled) } });
    return result !== undefined;
  }

  async function toggle(settings: ConfiguredModule) {
    const values = initialValues(module, settings);
    if (!(await save(values, !settings.enabled))) return false;
    toastWithUndo(`${title} is ${settings.enabled ? 'off' : 'on'}.`, updateOperations[host.kind], {
      ...where,
      input: { [field]: moduleInput(module, values, settings.enabled) },
    });
    return true;
  }

  async function unset(settings: ConfiguredModule) {
    if ((await unsetting.mutate(where)) === undefined) return false;
    const undo = () => void save(initialValues(module, settings), settings.enabled);
    const text = `The ${module.noun} of this ${hostNouns[host.kind]} is unset.`;
    toast(text, module.hasSecrets?.(settings) ? {} : { undo });
    return true;
  }

  return {
    save,
    toggle,
    unset,
    error: saving.error ?? unsetting.error,
    isBusy: saving.isBusy || unsetting.isBusy,
    reset: () => {
      saving.reset();
      unsetting.reset();
    },
  };
}
