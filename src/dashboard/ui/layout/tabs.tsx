import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

export interface Tab {
  title: string;
  href: string;
  /** It has tabs of its own below it, and is the current one at those, too. */
  hasTabs?: boolean;
}

/** Links to sibling pages, shown as tabs. */
export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  const { path } = useLocation();
  const strip = useRef<HTMLElement>(null);

  // On narrow screens the current tab may be out of view. scrollIntoView() might scroll the page as well.
  useLayoutEffect(() => {
    const current = strip.current?.querySelector('[aria-current]');
    if (!strip.current || !current) return;
    const stripBox = strip.current.getBoundingClientRect();
    const tab = current.getBoundingClientRect();
    strip.current.scrollLeft += (tab.left + tab.right - stripBox.left - stripBox.right) / 2;
  }, [path]);

  return (
    <nav ref={strip} class="tabs" aria-label={label}>
      {tabs.map(({ title, href, hasTabs }) => (
        <a
          key={href}
          href={href}
          aria-current={path === href ? 'page' : hasTabs && path.startsWith(`${href}/`) ? true : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
