import { useLocation } from 'preact-iso/router';

export interface Tab {
  title: string;
  href: string;
}

/** Places beside each other, each with its own address. */
export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  const { path } = useLocation();
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ title, href }) => (
        <a key={href} href={href} aria-current={path === href ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
