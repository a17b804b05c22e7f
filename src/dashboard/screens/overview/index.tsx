import './overview.css';

export { OverviewPage as default } from './page.tsx';
