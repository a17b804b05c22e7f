// The modules of an edge or route: which are set, how, and whether they are on.

import { Fragment } from 'preact';
import { addressOf, kindOf } from '../../../data/addresses.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { Section } from '../../../ui/page.tsx';
import { Tag } from '../../../ui/tag.tsx';
import { moduleAt } from '../places.ts';
import { useNames } from '../things.ts';
import { addressOfHost, type Host } from './hosts.ts';
import type { Module, SetModule } from './module.ts';
import { useModule } from './use-module.ts';

/** The modules of a host by their fields, as the API tells them. */
export type HostSettings = Readonly<Record<string, unknown>>;

interface ModuleListProps {
  host: Host;
  modules: readonly Module[];
  settings: HostSettings;
}

export function ModuleList({ host, modules, settings }: ModuleListProps) {
  const named = modules.flatMap((module) => {
    const set = settingsOf(module, settings);
    return set ? (module.names?.(set) ?? []) : [];
  });
  const nameOf = useNames(named);
  return (
    <Section title="Modules">
      <ul class="modules">
        {modules.map((module) => (
          <ModuleRow
            key={module.field}
            host={host}
            module={module}
            settings={settingsOf(module, settings)}
            nameOf={nameOf}
          />
        ))}
      </ul>
    </Section>
  );
}

interface ModuleRowProps {
  host: Host;
  module: Module;
  settings: SetModule | undefined;
  nameOf: (id: string) => string;
}

function ModuleRow({ host, module, settings, nameOf }: ModuleRowProps) {
  const { turn, error, isBusy } = useModule(host, module);
  const { title, what, isAlias } = module;
  const href = moduleAt(addressOfHost(host), module.field);
  return (
    <li class={settings ? 'module set' : 'module'}>
      <div class="module-what">
        <h3>
          <a href={href}>{title}</a>
          {settings && <Tag look={settings.enabled ? 'good' : 'warn'}>{settings.enabled ? 'on' : 'off'}</Tag>}
        </h3>
        {settings ? <Summary module={module} settings={settings} nameOf={nameOf} /> : <p class="quiet">{what}</p>}
        <ErrorNote error={error} />
      </div>
      <div class="actions">
        {settings && !isAlias ? (
          <Button isBusy={isBusy} onClick={() => void turn(settings)}>
            Switch {settings.enabled ? 'off' : 'on'}
            <span class="unseen"> {title}</span>
          </Button>
        ) : (
          <LinkButton href={href}>
            {settings ? 'Change' : 'Set up'}
            <span class="unseen"> {title}</span>
          </LinkButton>
        )}
      </div>
    </li>
  );
}

interface SummaryProps {
  module: Module;
  settings: SetModule;
  nameOf: (id: string) => string;
}

function Summary({ module: { names, summary, what }, settings, nameOf }: SummaryProps) {
  if (!names) return <p>{summary?.(settings) || what}</p>;
  return (
    <p>
      {names(settings).map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <a href={addressOf(kindOf(id) ?? '', id)}>{nameOf(id)}</a>
        </Fragment>
      ))}
    </p>
  );
}

/** A module's settings among those of its host; undefined when it isn't set. */
export function settingsOf({ field }: Module, settings: HostSettings): SetModule | undefined {
  return (settings[field] as SetModule | null | undefined) ?? undefined;
}
