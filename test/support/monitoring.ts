// The alert rules and the dashboard in src/monitoring, and what they ask a gateway for.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './root.ts';

export const directory = join(root, 'src/monitoring');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string };
}
interface Panel {
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { uid: string };
  targets?: { expr: string; datasource: { uid: string } }[];
}

const alerts = parse(await readFile(join(directory, 'alerts.yml'), 'utf8')) as { groups: { rules: Rule[] }[] };
export const dashboard = JSON.parse(await readFile(join(directory, 'grafana.json'), 'utf8')) as { panels: Panel[] };
export const rules = alerts.groups.flatMap((group) => group.rules);
export const targets = dashboard.panels.flatMap((panel) =>
  (panel.targets ?? []).map(({ expr, datasource }) => ({ title: panel.title, expr, datasource })),
);

/** What an expression of PromQL asks for: names of series, each with the labels that it looks at. */
export function asked(expr: string): { name: string; labels: string[] }[] {
  const bare = expr.replace(/"[^"]*"/g, '""').replace(/\b(by|on|ignoring|without) \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b([a-z_]\w*)\b(?!\s*\()(?:\{([^}]*)\})?/gi)]
    .filter(([, name = '']) => !/^(and|or|unless|\d+[smhd]|[smhd]|__rate_interval)$/.test(name))
    .filter(({ index }) => !/[[$]\S*$/.test(bare.slice(0, index)) && !/\{[^}]*$/.test(bare.slice(0, index)))
    .map(([, name = '', inner = '']) => ({
      name,
      labels: [...inner.matchAll(/(\w+)\s*=~?/g)].map(([, label = '']) => label),
    }));
}
