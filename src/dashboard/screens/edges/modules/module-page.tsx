// The page of one module of an edge or route.

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { CheckField } from '../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { type Breadcrumb, Page } from '../../../ui/layout/page.tsx';
import { hostNouns, hostPath, type ModuleHost } from './hosts.ts';
import { type ConfiguredModule, initialValues, type Module, withoutSecrets } from './module-form.ts';
import { useModule } from './use-module.ts';

interface ModulePageProps {
  host: ModuleHost;
  module: Module;
  settings: ConfiguredModule | undefined;
  crumbs: readonly Breadcrumb[];
}

export function ModulePage(props: ModulePageProps) {
  const { module, settings, host, crumbs } = props;
  const [isConfirming, setConfirming] = useState(false);
  const { unset, error, isBusy, reset } = useModule(host, module);
  const { route } = useLocation();
  const hasSecrets = settings !== undefined && module.hasSecrets?.(settings);

  return (
    <Page
      title={module.title}
      crumbs={crumbs}
      lead={module.description}
      badge={<ModuleState settings={settings} />}
      actions={settings && <Button onClick={() => setConfirming(true)}>Unset</Button>}
    >
      <ModuleForm {...props} />
      {isConfirming && settings && (
        <ConfirmDialog
          title={`Unset the ${module.noun}?`}
          // A module with secrets cannot be restored, so its name has to be typed.
          typeToConfirm={hasSecrets ? module.title : undefined}
          confirmLabel="Unset it"
          error={error}
          isBusy={isBusy}
          onConfirm={async () => {
            if (!(await unset(settings))) return;
            setConfirming(false);
            route(hostPath(host));
          }}
          onClose={() => {
            reset();
            setConfirming(false);
          }}
        >
          <p>
            Traffic of this {hostNouns[host.kind]} goes on without it from the next request on, and its settings are
            forgotten.{' '}
            {hasSecrets ? 'Its secrets have to be typed again to set it anew.' : 'To keep them, switch it off instead.'}
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

function ModuleState({ settings }: { settings: ConfiguredModule | undefined }) {
  if (!settings) return <Tag>not set</Tag>;
  return <Tag variant={settings.enabled ? 'good' : 'warn'}>{settings.enabled ? 'on' : 'off'}</Tag>;
}

function ModuleForm({ host, module, settings }: ModulePageProps) {
  const { save, error, isBusy } = useModule(host, module);
  const { route } = useLocation();
  const fields = useFormFields<Record<string, unknown>>(
    { enabled: settings?.enabled ?? true, ...initialValues(module, settings) },
    {
      draft: `${host.id} ${module.field}`,
      kind: host.kind,
      storable: (values) => withoutSecrets(module, values),
    },
  );
  const { Status, Panel } = module;

  async function submit() {
    if (!(await save(fields.values, fields.values.enabled === true))) return;
    fields.saved();
    toast(`${module.title} is ${settings ? 'changed' : 'set'}.`);
    route(hostPath(host));
  }

  return (
    <>
      <Form
        submitLabel={settings ? 'Save' : `Set the ${module.noun}`}
        fields={fields}
        onSubmit={() => void submit()}
        error={error}
        isBusy={isBusy}
        onCancel={() => route(hostPath(host))}
      >
        <CheckField
          name={`${module.field}.enabled`}
          label="On: it acts on traffic"
          value={fields.values.enabled === true}
          onChange={(enabled) => fields.set({ enabled })}
        />
        {module.fields.map(({ name, render }) => (
          <div key={name}>{render({ ...fields.bind(name), name: `${module.field}.${name}` }, settings, host)}</div>
        ))}
      </Form>
      {Status && <Status host={host} values={fields.values} settings={settings} />}
      {Panel && <Panel host={host} values={fields.values} settings={settings} />}
    </>
  );
}

/** The page for a module that does not exist. */
export function NoSuchModule({ crumbs }: { crumbs: readonly Breadcrumb[] }) {
  return (
    <Page title="No such module" crumbs={crumbs}>
      <EmptyState
        title="There is no such module"
        action={crumbs.at(-1) && <LinkButton href={crumbs.at(-1)?.href ?? ''}>{crumbs.at(-1)?.title}</LinkButton>}
      >
        The address names a module that edges and routes of this kind do not have.
      </EmptyState>
    </Page>
  );
}
