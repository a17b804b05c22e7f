// The modules of an edge or route, with their settings and switches.

import { Fragment } from 'preact';
import { kindOf, objectPath } from '../../../data/routing/paths.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { modulePath } from '../navigation.ts';
import { useReferenceTitles } from '../references/references.ts';
import { modulesForHost } from './forms.tsx';
import { hostPath, type ModuleHost } from './hosts.ts';
import { type ConfiguredModule, type Module, moduleSettings } from './module-form.ts';
import { useModule } from './use-module.ts';

interface ModuleListProps {
  host: ModuleHost;
  /** The edge or route, which has its modules as fields. */
  settings: object;
}

export function ModuleList({ host, settings }: ModuleListProps) {
  const modules = modulesForHost(host.kind);
  const referenced = modules.flatMap((module) => {
    const set = moduleSettings(module, settings);
    return set ? (module.references?.(set) ?? []) : [];
  });
  const nameOf = useReferenceTitles(referenced);
  return (
    <Section title="Modules">
      <ul class="modules">
        {modules.map((module) => (
          <ModuleRow
            key={module.field}
            host={host}
            module={module}
            settings={moduleSettings(module, settings)}
            nameOf={nameOf}
          />
        ))}
      </ul>
    </Section>
  );
}

interface ModuleRowProps {
  host: ModuleHost;
  module: Module;
  settings: ConfiguredModule | undefined;
  nameOf: (id: string) => string;
}

function ModuleRow({ host, module, settings, nameOf }: ModuleRowProps) {
  const { toggle, error, isBusy } = useModule(host, module);
  const { title, description, isAlias } = module;
  const href = modulePath(hostPath(host), module.field);
  return (
    <li class={settings ? 'module set' : 'module'}>
      <div class="module-info">
        <h3>
          <a href={href}>{title}</a>
          {settings && <Tag variant={settings.enabled ? 'good' : 'warn'}>{settings.enabled ? 'on' : 'off'}</Tag>}
        </h3>
        {settings ? (
          <Summary module={module} settings={settings} nameOf={nameOf} />
        ) : (
          <p class="muted">{description}</p>
        )}
        <ErrorNote error={error} />
      </div>
      <div class="actions">
        {settings && !isAlias ? (
          <Button isBusy={isBusy} onClick={() => void toggle(settings)}>
            Switch {settings.enabled ? 'off' : 'on'}
            <span class="visually-hidden"> {title}</span>
          </Button>
        ) : (
          <LinkButton href={href}>
            {settings ? 'Change' : 'Set up'}
            <span class="visually-hidden"> {title}</span>
          </LinkButton>
        )}
      </div>
    </li>
  );
}

interface SummaryProps {
  module: Module;
  settings: ConfiguredModule;
  nameOf: (id: string) => string;
}

function Summary({ module: { references, summary, description }, settings, nameOf }: SummaryProps) {
  if (!references) return <p>{summary?.(settings) || description}</p>;
  return (
    <p>
      {references(settings).map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <a href={objectPath(kindOf(id) ?? '', id)}>{nameOf(id)}</a>
        </Fragment>
      ))}
    </p>
  );
}
